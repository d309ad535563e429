import type { Pipeline } from '@/api/client'
import { formatAgo, formatExact } from '@/lib/format'

type Kind = NonNullable<Pipeline['source_kind']>

const MEANINGS: Record<Kind, string> = {
  live: 'the newest tweets are what people write now',
  pushed: 'the newest tweets were sent here by somebody, who alone knows how real they are',
  recorded: 'the newest tweets were recorded earlier, and are replayed',
  invented: 'the newest tweets were made up by a program; nobody wrote them',
}

type Told = Pick<Pipeline, 'source' | 'source_kind' | 'source_ended_at'>

/** What to say, at `now` (ms), of the source of the newest tweets, and what that means. */
export function describeSource(
  { source, source_kind: kind, source_ended_at: endedAt }: Told, now: number,
): { text: string, meaning: string } {
  if (!source) return { text: 'no source yet', meaning: 'nothing was published yet' }
  const text = `${kind ?? 'source'}: ${source}`
  const meaning = kind ? MEANINGS[kind] : 'a source of which it is not known how real its tweets are'
  if (!endedAt) return { text, meaning }
  const time = Date.parse(endedAt)
  return {
    text: `${kind === 'live' ? 'was ' : ''}${text}, ended ${formatAgo(time, Math.max(now, time))}`,
    meaning: `${kind === 'live' ? 'the newest tweets are what people wrote' : meaning}; `
      + `nothing came from there since ${formatExact(time)}`,
  }
}

/** The address, if a link may lead there; it comes from strangers. */
export function linkable(url: string | null): string | null {
  return url && /^https?:\/\//.test(url) ? url : null
}
