import type { RankedHashtag, Ranking } from '@/api/client'

/** How a hashtag stands against its own mean over the last hour. */
export interface Standing {
  kind: 'rising' | 'falling' | 'steady'
  /** Times its mean; at least that where `bound`: the hour's ranking does not reach down to it. */
  times: number
  bound: boolean
}

const RISING = 1.5
/** Standard deviations of a count by chance that a change has to exceed. */
const CHANCE = 3

/**
 * How each hashtag of a ranking stands, by its share of the tweets, which does not depend on how long tweets have come
 * or how fast. Null: the hour holds little beside the window itself, as in the first minute, so there is no mean.
 */
export function standings(ranking: Ranking, hour: Ranking | null): Map<string, Standing> | null {
  if (!hour || hour.tweets < 2 * ranking.tweets || !hour.hashtags.length) return null
  const shares = new Map(hour.hashtags.map(({ hashtag, share }) => [hashtag, share]))
  const least = Math.min(...shares.values())
  return new Map(ranking.hashtags.map((entry) => [
    entry.hashtag, standing(entry, ranking.tweets, shares.get(entry.hashtag), least),
  ]))
}

function standing(entry: RankedHashtag, tweets: number, mean: number | undefined, least: number): Standing {
  const expected = (mean ?? least) * tweets
  const times = entry.count / expected
  const chance = Math.abs(entry.count - expected) < CHANCE * Math.sqrt(expected)
  const bound = mean === undefined
  if (chance) return { kind: 'steady', times, bound }
  return { kind: times >= RISING ? 'rising' : times <= 1 / RISING && !bound ? 'falling' : 'steady', times, bound }
}

export function describeStanding({ times, bound }: Standing): string {
  return `${bound ? 'at least ' : ''}${times.toFixed(1)} × its mean over the last hour`
}
