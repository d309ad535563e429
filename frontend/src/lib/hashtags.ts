export interface TextPart {
  text: string
  /** Normalised name if the part is one of the tweet's hashtags. */
  hashtag: string | null
}

const HASHTAG = /[#＃][\p{L}\p{M}\p{N}_\u200c\u200d]+/gu

/** As the server normalises: NFKC, without '#', case-folded (as nearly as JavaScript can). */
export function normaliseHashtag(text: string): string {
  return text.normalize('NFKC').replace(/^#/, '').toLowerCase()
}

/** Splits a tweet's text into plain parts and hashtags, without losing a character. */
export function splitHashtags(text: string): TextPart[] {
  const parts: TextPart[] = []
  let end = 0
  for (const match of text.matchAll(HASHTAG)) {
    if (match.index > end) parts.push({ text: text.slice(end, match.index), hashtag: null })
    parts.push({ text: match[0], hashtag: normaliseHashtag(match[0]) })
    end = match.index + match[0].length
  }
  if (end < text.length) parts.push({ text: text.slice(end), hashtag: null })
  return parts
}
