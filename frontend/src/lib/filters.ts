/** What a search may be narrowed to; everywhere an empty string narrows nothing. */

export const PERIODS = {
  '': 'Any time', '5m': 'Last 5 minutes', '1h': 'Last hour', '1d': 'Last day', between: 'Between …',
} as const
export type Period = keyof typeof PERIODS

const SECONDS: Partial<Record<Period, number>> = { '5m': 300, '1h': 3600, '1d': 86_400 }
/** So coarse, the same search within a moment is the same for the cache, too. */
const COARSE_MS = 10_000

export interface Filters {
  lang: string
  hashtag: string
  period: Period
  /** With the period `between`, as an input of a browser writes a moment: 2026-11-28T10:00, in local time. */
  from: string
  to: string
}

export const NO_FILTERS: Readonly<Filters> = { lang: '', hashtag: '', period: '', from: '', to: '' }

export const isPeriod = (value: string): value is Period => Object.hasOwn(PERIODS, value)

export const isMoment = (value: string): value is string =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(value) && !Number.isNaN(Date.parse(value))

export const isNarrowed = ({ lang, hashtag, period }: Filters) => Boolean(lang || hashtag || period)

/** Parameters of the search's address, at `now` (ms). */
export function searchParameters({ lang, hashtag, period, from, to }: Filters, now: number): Record<string, string> {
  const seconds = SECONDS[period]
  const between = period === 'between'
  const since = seconds ? Math.floor((now - seconds * 1000) / COARSE_MS) * COARSE_MS
    : between && from ? Date.parse(from) : null
  const until = between && to ? Date.parse(to) : null
  return {
    ...(lang && { lang }), ...(hashtag && { tag: hashtag }),
    ...(since !== null && { since: new Date(since).toISOString() }),
    ...(until !== null && { until: new Date(until).toISOString() }),
  }
}
