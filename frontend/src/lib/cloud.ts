import layout from 'd3-cloud'
import type { RankedHashtag } from '@/api/client'

export interface PlacedWord {
  entry: RankedHashtag
  /** Font size in px. */
  size: number
  /** Centre of the word, px from the centre of the cloud. */
  x: number
  y: number
}

const FAMILY = 'system-ui, sans-serif'

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
  return value
}

/**
 * d3-cloud draws three random numbers for each word, in order: where to start (x, y) and which way to turn. Drawn from
 * the word itself, they let a word stay about where it was while the others come and go.
 */
function startingPoints(entries: RankedHashtag[]): () => number {
  let drawn = 0
  return () => {
    const word = entries[Math.floor(drawn / 3) % entries.length]
    return hash(`${drawn++ % 3}${word?.hashtag}`) / 2 ** 32
  }
}

/** Places the hashtags, most frequent first, without overlap; whatever finds no room is left out (the list has it). */
export function placeWords(entries: RankedHashtag[], width: number, height: number): Promise<PlacedWord[]> {
  const sizes = fontSizes(entries, width)
  return new Promise((resolve) => {
    layout<layout.Word & { entry: RankedHashtag }>()
      .size([width, height])
      .words(entries.map((entry, index) => ({ entry, text: `#${entry.hashtag}`, size: sizes[index] })))
      .font(FAMILY)
      .fontWeight('600')
      .fontSize((word) => word.size ?? 12)
      .padding(3)
      .rotate(0)
      .spiral('archimedean')
      .random(startingPoints(entries))
      .timeInterval(20)
      .on('end', (words) =>
        resolve(words.map(({ entry, size = 12, x = 0, y = 0 }) => ({ entry, size, x, y }))))
      .start()
  })
}
