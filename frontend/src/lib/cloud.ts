import type { RankedHashtag } from '@/api/client'

export interface PlacedWord {
  entry: RankedHashtag
  /** Font size in px. */
  size: number
  /** Centre of the word, px from the centre of the cloud. */
  x: number
  y: number
}

interface Box { x: number; y: number; width: number; height: number }

/** Sizes that follow the counts, between limits that suit the width of the cloud. */
export function fontSizes(entries: RankedHashtag[], width: number): number[] {
  const largest = Math.min(66, Math.max(32, width / 12))
  const smallest = width < 480 ? 11 : 13
  const top = Math.max(1, ...entries.map(({ count }) => count))
  return entries.map(({ count }) => Math.round(smallest + (largest - smallest) * (count / top) ** 0.6))
}

function hash(text: string): number {
  let value = 2_166_136_261
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16_777_619) >>> 0
  return value / 2 ** 32
}

const PADDING = 3
const LINE_HEIGHT = 1.15
const STEPS = 900

/**
 * Places the hashtags, most frequent first, without overlap. A word that was there `before` keeps its place, unless a
 * more frequent one has grown into it: then it moves to the nearest free one. Whatever finds no room is left out (the
 * list has it). `measure` tells the width of a text of 1 px height.
 */
export function placeWords(
  entries: RankedHashtag[], width: number, height: number, before: PlacedWord[], measure: (text: string) => number,
): PlacedWord[] {
  const sizes = fontSizes(entries, width)
  const former = new Map(before.map((word) => [word.entry.hashtag, word]))
  const taken: Box[] = []
  return entries.flatMap((entry, index) => {
    const size = sizes[index]!
    const box = {
      ...(former.get(entry.hashtag) ?? startOf(entry.hashtag, width, height)),
      width: measure(`#${entry.hashtag}`) * size + 2 * PADDING, height: size * LINE_HEIGHT + PADDING,
    }
    const place = nearestFree(box, taken, width, height)
    if (!place) return []
    taken.push(place)
    return [{ entry, size, x: place.x, y: place.y }]
  })
}

/** A place near the centre that follows from the word itself, so that it is the same after a reload. */
function startOf(hashtag: string, width: number, height: number) {
  return { x: (hash(`x${hashtag}`) - 0.5) * width * 0.5, y: (hash(`y${hashtag}`) - 0.5) * height * 0.5 }
}

/** The box on the spiral around its own place where it overlaps nothing; null: there is no room within the cloud. */
function nearestFree(box: Box, taken: Box[], width: number, height: number): Box | null {
  for (let step = 0; step < STEPS; step++) {
    const angle = step * 0.5
    const radius = step * 0.45
    const tried = {
      ...box, x: box.x + radius * Math.cos(angle) * (width / height), y: box.y + radius * Math.sin(angle),
    }
    const inside = Math.abs(tried.x) + box.width / 2 <= width / 2 && Math.abs(tried.y) + box.height / 2 <= height / 2
    if (inside && !taken.some((other) => overlap(tried, other))) return tried
  }
  return null
}

function overlap(a: Box, b: Box): boolean {
  return Math.abs(a.x - b.x) * 2 < a.width + b.width && Math.abs(a.y - b.y) * 2 < a.height + b.height
}
