// @vitest-environment node
import { expect, it } from 'vitest'
import type { Ranking } from '@/api/client'
import { describeStanding, standings } from '@/lib/rising'

const ranking = (window: Ranking['window'], tweets: number, counts: Record<string, number>): Ranking => ({
  window, tweets, as_of: '2026-11-21T12:00:00Z',
  hashtags: Object.entries(counts).map(([hashtag, count], index) =>
    ({ hashtag, count, share: count / tweets, rank: index + 1, previous_rank: null })),
})
const kinds = (now: Ranking, hour: Ranking | null) =>
  Object.fromEntries([...(standings(now, hour) ?? [])].map(([hashtag, { kind }]) => [hashtag, kind]))
const hour = ranking('1h', 100_000, { cup: 4_000, rain: 2_000, tea: 1_000, last: 100 })

it('compares shares, so that more tweets alone make nothing rise', () => {
  expect(kinds(ranking('1m', 10_000, { cup: 400, rain: 600, tea: 20 }), hour))
    .toEqual({ cup: 'steady', rain: 'rising', tea: 'falling' })
})

it('has no mean in the first minute, nor without the ranking of the hour', () => {
  const now = ranking('1m', 10_000, { cup: 4_000 })
  expect(standings(now, null)).toBeNull()
  expect(standings(now, ranking('1h', 10_000, { cup: 4_000 }))).toBeNull()
  expect(standings(now, ranking('1h', 19_999, { cup: 10 }))).toBeNull()
  expect(standings(now, ranking('1h', 20_000, { cup: 10 }))).not.toBeNull()
})

it('takes few tweets for chance', () => {
  expect(kinds(ranking('1m', 100, { cup: 8, tea: 3 }), hour)).toEqual({ cup: 'steady', tea: 'steady' })
})

it('knows of a hashtag that the hour does not list that its mean is below the listed ones', () => {
  const now = ranking('1m', 10_000, { fresh: 50, tea: 100 })
  expect(kinds(now, hour)).toEqual({ fresh: 'rising', tea: 'steady' })
  expect(describeStanding(standings(now, hour)!.get('fresh')!)).toBe('at least 5.0 × its mean over the last hour')
})
