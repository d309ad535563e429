/** The state of the pipeline in three sentences: what happens, where tweets wait, whether one was lost. */

import type { Failure, Pipeline } from '@/api/client'
import { phaseOf, tellDone, tellRecovery } from '@/lib/pipeline/failures'
import { formatCount, formatDuration, formatSeconds } from '@/lib/format'
import type { Flow } from '@/lib/pipeline/graph'
import type { LedgerTold } from '@/lib/ledger'
import { BEHIND_SECONDS } from '@/lib/pipeline/pressure'

export interface Headline {
  tone: 'ok' | 'warn' | 'bad' | 'unknown'
  what: string
  where: string
  lost: string
}

/** For how long it is told that all have recovered. */
const TOLD_MS = 5 * 60_000

const TRENDS = { better: 'getting better', worse: 'getting worse', steady: 'steady' } as const

/** `failures`: newest first; `now`: ms. */
export function headlineOf(
  pipeline: Pipeline | null, flows: Flow[], failures: Failure[], ledger: LedgerTold, now: number,
): Headline {
  const [failure] = failures
  const recent = failure && now - Date.parse(failure.began_at) < TOLD_MS ? failure : null
  return {
    ...(recent ? afterFailure(recent, now) : asUsual(pipeline, flows, now)),
    where: pipeline && !pipeline.source ? 'No tweet has been published, and none waits.' : whereTweetsWait(flows),
    lost: whetherLost(ledger),
  }
}

function afterFailure(failure: Failure, now: number): Pick<Headline, 'tone' | 'what'> {
  const phase = phaseOf(failure, now)
  const tone = phase === 'over' ? 'ok' : phase === 'recovers' ? 'warn' : 'bad'
  return { tone, what: `${tellDone(failure, now)}: ${tellRecovery(failure, now)}.` }
}

function asUsual(pipeline: Pipeline | null, flows: Flow[], now: number): Pick<Headline, 'tone' | 'what'> {
  if (!pipeline) return { tone: 'unknown', what: 'Waiting for the stages to report.' }
  const { limiting, stages } = pipeline
  if (limiting) {
    const since = formatDuration((now - Date.parse(limiting.since)) / 1000)
    const what = `The stage ${limiting.stage} limits the others, for ${since}, ${TRENDS[limiting.trend]}.`
    return { tone: 'warn', what }
  }
  if (!pipeline.source) return { tone: 'unknown', what: 'No tweets flow: there is no source yet.' }
  const behind = flows.filter(({ pressure }) => pressure === 'behind' || pressure === 'stalled')
  if (behind.length) return { tone: 'warn', what: 'Not every stage keeps up.' }
  if (stages.some(({ rate_per_s: rate }) => rate === null)) {
    return { tone: 'unknown', what: 'Some stages do not report.' }
  }
  const idle = stages.every(({ rate_per_s: rate }) => rate === 0)
  if (idle) return { tone: 'ok', what: `No tweets flow: ${whyIdle(pipeline)}.` }
  return { tone: 'ok', what: 'Every stage keeps up.' }
}

const whyIdle = ({ source, source_ended_at: ended }: Pipeline) =>
  ended ? `the source ${source} has ended` : `the source ${source} brings none`

function whereTweetsWait(flows: Flow[]): string {
  const full = flows.filter(({ pressure }) => pressure === 'behind' || pressure === 'stalled')
  if (full.length) {
    const places = full.map(({ stream, to, events, seconds }) =>
      `${formatCount(events)} in ${stream} before ${to} (${formatSeconds(seconds)})`)
    return `Tweets wait: ${places.join(', ')}.`
  }
  if (flows.some(({ pressure, without }) => pressure === 'unknown' && !without)) return 'Where tweets wait is unknown.'
  return `No stage lets tweets wait for ${BEHIND_SECONDS} s.`
}

function whetherLost({ state, figures }: LedgerTold): string {
  const figure = (sought: string) => figures.find(({ name }) => name === sought)!.text
  if (state === 'exact') return 'No tweet was lost, none is there twice.'
  if (state === 'differs') return `Tweets lost: ${figure('lost')}, twice: ${figure('twice')}.`
  if (state === 'off') return 'The ledger is off while an experiment runs.'
  return 'Whether any was lost is unknown: the ledger is.'
}

/** What of it is worth to be announced: no figure and no age, which change all the time. */
export function announcementOf(
  pipeline: Pipeline | null, flows: Flow[], failures: Failure[], now: number,
): string {
  const [failure] = failures
  if (failure && now - Date.parse(failure.began_at) < TOLD_MS) {
    return `${failure.process}, ${failure.kind}: ${tellRecovery(failure, now)}`
  }
  if (pipeline?.limiting) return `The stage ${pipeline.limiting.stage} limits the others`
  return asUsual(pipeline, flows, now).what
}
