// @vitest-environment node
import { expect, it } from 'vitest'
import { placeWords, type PlacedWord } from '@/lib/cloud'

const WIDTH = 800
const HEIGHT = 400
const measure = (text: string) => text.length * 0.6
const ranked = (counts: Record<string, number>) =>
  Object.entries(counts).sort(([, a], [, b]) => b - a)
    .map(([hashtag, count], index) => ({ hashtag, count, share: 0, rank: index + 1, previous_rank: null }))
const place = (counts: Record<string, number>, before: PlacedWord[] = []) =>
  placeWords(ranked(counts), WIDTH, HEIGHT, before, measure)
const placesOf = (words: PlacedWord[]) => Object.fromEntries(words.map(({ entry, x, y }) => [entry.hashtag, [x, y]]))
/** Counts as hashtags have them: half as many for the second, a third for the third. */
const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`word${index}`, 1_000 / (index + 1)]))

it('keeps words apart and within the cloud', () => {
  const words = place(many)
  expect(words.length).toBeGreaterThan(50)
  for (const [index, a] of words.entries()) {
    const widthOf = (word: PlacedWord) => measure(`#${word.entry.hashtag}`) * word.size
    expect(Math.abs(a.x) + widthOf(a) / 2).toBeLessThanOrEqual(WIDTH / 2)
    expect(Math.abs(a.y) + a.size / 2).toBeLessThanOrEqual(HEIGHT / 2)
    for (const b of words.slice(index + 1)) {
      const apart = Math.abs(a.x - b.x) * 2 >= widthOf(a) + widthOf(b) || Math.abs(a.y - b.y) * 2 >= a.size + b.size
      expect(apart, `${a.entry.hashtag} and ${b.entry.hashtag}`).toBe(true)
    }
  }
})

it('leaves words where they are while they shrink, change rank, or others come and go', () => {
  const before = place({ one: 100, two: 50, three: 49, gone: 30 })
  const after = placesOf(place({ one: 100, three: 40, two: 30, come: 1 }, before))
  const { one, two, three } = placesOf(before)
  expect(after).toMatchObject({ one, two, three })
})

it('makes a word give way to one that grows into it, to the nearest free place', () => {
  const words = ranked({ big: 100, small: 5 })
  const before = words.map((entry, index) => ({ entry, size: 13, x: index * 40, y: 0 }))
  const after = placesOf(placeWords(words, WIDTH, HEIGHT, before, measure))
  expect(after.big).toEqual([0, 0])
  expect(after.small).not.toEqual([40, 0])
  expect(Math.hypot(after.small![0]! - 40, after.small![1]!)).toBeLessThan(200)
})
