/** The pipeline as a graph: stages are nodes, streams lead to those who read them. */

import type { Failure, Pipeline, Process, Stage, StageName, StreamName } from '@/api/client'
import { phaseOf } from '@/lib/pipeline/failures'
import { stateOf, type Pressure } from '@/lib/pipeline/pressure'

/** A node: a stage, or the query that counts for *ranked* and tells no figures of its own. */
export type Place = StageName | 'counted'

const WORKERS: Record<Place, RegExp> = {
  published: /^ingest/, enriched: /^spark/, counted: /^spark/, ranked: /^trending/, searchable: /^search/,
}

const PLACES = Object.keys(WORKERS) as Place[]

/** The nodes that a process works for; empty of a server. */
export const placesOf = (process: string): Place[] => PLACES.filter((place) => WORKERS[place].test(process))

export interface Work {
  state: 'runs' | 'starts' | 'disturbed' | 'down' | 'unknown'
  /** Which process does what. */
  words: string
}

/** Beside the words. */
export const WORK_MARKS: Record<Work['state'], string> = {
  runs: '●', starts: '◐', disturbed: '◐', down: '✗', unknown: '?',
}

export type Works = Record<Place, Work>

/**
 * Who works at each node, at `now` (ms). `processes`: null: unknown. `failures`: newest first. The process that takes
 * pushed tweets works for *published* only where tweets are pushed: other sources publish on their own.
 */
export function worksOf(
  pipeline: Pick<Pipeline, 'source_kind'> | null, processes: Process[] | null, failures: Failure[], now: number,
): Works {
  const idle = pipeline?.source_kind === 'pushed' ? null : 'ingest-http'
  const at = (place: Place) => workOf(
    place, processes?.filter(({ name }) => name !== idle) ?? null,
    failures.filter(({ process }) => process !== idle), now,
  )
  return Object.fromEntries(PLACES.map((place) => [place, at(place)])) as Works
}

function workOf(place: Place, processes: Process[] | null, failures: Failure[], now: number): Work {
  const workers = processes?.filter(({ name }) => WORKERS[place].test(name)) ?? []
  if (!workers.length) {
    const failure = failures.find(({ process }) => WORKERS[place].test(process))
    return failure && phaseOf(failure, now) === 'down'
      ? { state: 'down', words: `${failure.process} killed` }
      : { state: 'unknown', words: place === 'published' ? '' : 'process unknown' }
  }
  const works = workers.map((worker) => {
    const { state, words } = workOfProcess(worker, failures, now)
    return { state, words: `${worker.name} ${words}` }
  })
  // As long as one member of a group works, the stage does.
  const states = ['runs', 'disturbed', 'starts', 'down'] as const
  return { state: states.find((state) => works.some((work) => work.state === state))!,
    words: works.map(({ words }) => words).join('; ') }
}

/** What one process does. */
export function workOfProcess({ name, state, pid }: Process, failures: Failure[], now: number): Work {
  const failure = failures.find(({ process }) => process === name)
  const phase = failure ? phaseOf(failure, now) : 'over'
  if (pid === null || !['running', 'starting', 'paused'].includes(state)) {
    return { state: 'down', words: phase === 'down' ? 'killed' : state }
  }
  if (phase === 'down') return { state: 'starts', words: 'killed, starts again' }
  if (state === 'paused') return { state: 'down', words: 'paused' }
  if (phase === 'lasts') return { state: 'disturbed', words: `works, with ${failure!.kind}` }
  if (state === 'starting') return { state: 'starts', words: 'starting' }
  return { state: 'runs', words: 'runs' }
}

/** All processes that work for no stage: the stores, the page and what watches. */
export function serversOf(processes: Process[] | null, failures: Failure[], now: number): Work {
  const isServer = (name: string) => !placesOf(name).length
  const servers = processes?.filter(({ name }) => isServer(name)) ?? []
  if (!servers.length) {
    const down = failures.find((failure) => isServer(failure.process) && phaseOf(failure, now) === 'down')
    return down ? { state: 'down', words: `${down.process} killed` } : { state: 'unknown', words: 'unknown' }
  }
  const works = servers.map((server) => ({ name: server.name, ...workOfProcess(server, failures, now) }))
  const others = works.filter(({ state }) => state !== 'runs')
  const words = others.map(({ name, words }) => `${name} ${words}`).join('; ')
  if (others.length) return { state: others.some(({ state }) => state === 'down') ? 'down' : 'disturbed', words }
  return { state: 'runs', words: works.length === 1 ? `${works[0]!.name} runs` : `all ${works.length} run` }
}

/** A stream on its way to one reader. null where unknown, never 0. */
export interface Flow {
  stream: StreamName
  to: Place
  /** Tweets per second that go in. */
  rate: number | null
  /** What waits in it for the reader, and how much delay that adds. */
  events: number | null
  seconds: number | null
  pressure: Pressure
  /** How full it is drawn, 0 to 1: by the delay, or by its retention if that is nearer to its end. */
  level: number
  /** Share of its retention that lies before the reader. */
  retention: number | null
  /** Why it has no figures; null: it has. */
  without: string | null
}

const PREDECESSOR: Record<Exclude<StageName, 'published'>, StageName> = {
  enriched: 'published', ranked: 'enriched', searchable: 'enriched',
}

/**
 * The streams in which tweets wait. Those on their way to *ranked* pass two, of which the figures are one: they are
 * told of the first, unless it is the reader of the second who is missing.
 */
export function flowsOf(stages: Stage[], works: Works): Flow[] {
  const ranked = waiting('ranked', stages, isAway(works.counted) || isAway(works.ranked))
  const isSecond = isAway(works.ranked) && !isAway(works.counted)
  const elsewhere = {
    rate: null, events: null, seconds: null, pressure: 'unknown', level: 0, retention: null,
  } as const
  const ofRanked = { ...ranked, without: null }
  return [
    { stream: 'tweets-raw', to: 'enriched', ...waiting('enriched', stages, isAway(works.enriched)), without: null },
    { stream: 'tweets-enriched', to: 'counted',
      ...(isSecond ? { ...elsewhere, rate: ranked.rate, without: 'what waits is behind it' } : ofRanked) },
    { stream: 'hashtag-counts', to: 'ranked',
      ...(isSecond ? ofRanked : { ...elsewhere, without: 'told with the stream before it' }) },
    { stream: 'tweets-enriched', to: 'searchable', ...waiting('searchable', stages, isAway(works.searchable)),
      without: null },
  ]
}

const isAway = ({ state }: Work) => state === 'down' || state === 'starts'

function waiting(reader: keyof typeof PREDECESSOR, stages: Stage[], away: boolean) {
  const stage = stages.find(({ name }) => name === reader)
  const before = stages.find(({ name }) => name === PREDECESSOR[reader])
  const { pressure, level, ownLagSeconds } = stage ? stateOf(stage, stages) : UNKNOWN_STATE
  const events = stage?.lag_events == null || before?.lag_events == null
    ? null : Math.max(0, stage.lag_events - before.lag_events)
  const isStalled = away && events !== null && events > 0
  return {
    rate: before?.rate_per_s ?? null,
    events,
    seconds: ownLagSeconds,
    pressure: isStalled ? 'stalled' as const : pressure,
    // Nobody tells of how long they wait, but that they do.
    level: isStalled && ownLagSeconds === null ? 1 : Math.max(level, Math.min(1, stage?.retention_used ?? 0)),
    retention: stage?.retention_used ?? null,
  }
}

const UNKNOWN_STATE = { pressure: 'unknown' as const, level: 0, ownLagSeconds: null }
