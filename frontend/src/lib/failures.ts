/** Failures that were provoked, in words. */

import type { Failure, FailureKind } from '@/api/client'
import { formatAgo, formatSeconds } from '@/lib/format'

const DONE: Record<FailureKind, string> = {
  kill: 'was killed', pause: 'was paused', slow: 'was slowed', 'fill-disk': 'had its disk filled',
  'flush-cache': 'was emptied',
}

/** `lasts`: it goes on; `down`: it has not done its work since; `recovers`: tweets that waited are worked off. */
export type Phase = 'lasts' | 'down' | 'recovers' | 'over'

/** Whoever measures the recovery waits no longer, and then leaves open what has not come. */
const PATIENCE_MS = 200_000

/** At `now`, ms. */
export function phaseOf(failure: Failure, now: number): Phase {
  const { kind, began_at, ended_at } = failure
  const lasts = kind === 'pause' || kind === 'slow' || kind === 'fill-disk'
  if (lasts && (!ended_at || Date.parse(ended_at) > now)) return 'lasts'
  const since = Date.parse(lasts ? ended_at! : began_at)
  if (failure.caught_up_after_s !== null || now - since > PATIENCE_MS) return 'over'
  return kind === 'kill' && failure.back_after_s === null ? 'down' : 'recovers'
}

/** What was done, and when. */
export const tellDone = ({ process, kind, began_at }: Failure, now: number) =>
  `${process} ${DONE[kind]} ${formatAgo(Date.parse(began_at), Math.max(now, Date.parse(began_at)))}`

/** What became of it since. */
export function tellRecovery(failure: Failure, now: number): string {
  const { back_after_s: back, caught_up_after_s: caughtUp } = failure
  const known = [
    ...(back === null ? [] : [`back after ${formatSeconds(back)}`]),
    ...(caughtUp === null ? [] : [`caught up after ${formatSeconds(caughtUp)}`]),
  ]
  const phase = phaseOf(failure, now)
  if (phase === 'lasts') return 'this goes on'
  if (phase === 'down') return 'not back yet'
  if (phase === 'recovers') return [...known, 'catching up'].join(', ')
  return known.join(', ') || 'when it was back is unknown'
}
