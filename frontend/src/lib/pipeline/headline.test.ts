// @vitest-environment node
import { expect, it } from 'vitest'
import type { Failure, Ledger, Pipeline, Stage } from '@/api/client'
import { flowsOf, worksOf } from '@/lib/pipeline/graph'
import { announcementOf, headlineOf } from '@/lib/pipeline/headline'
import { tellLedger } from '@/lib/ledger'

const NOW = Date.UTC(2026, 10, 28, 12)
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString()

const stage = (name: Stage['name'], lag: number | null, rate: number | null = 1_000): Stage => ({
  name, rate_per_s: rate, lag_seconds: lag, lag_events: lag && lag * 1_000, retention_used: null,
  latency_ms: { p50: null, p95: null, p99: null },
})
const pipeline = (lag: number | null, known: Partial<Pipeline> = {}): Pipeline => ({
  middleware: 'kafka', durability: 'fsync', durability_asked: true, replicas: 1, source: 'synthetic',
  source_kind: 'invented', source_ended_at: null, source_problem: null, limiting: null, ...known,
  stages: known.stages
    ?? [stage('published', 0), stage('enriched', lag), stage('ranked', lag), stage('searchable', lag)],
})
const ledger = (state: Ledger['state'], lost: number | null = 0): Ledger => ({
  state, as_of: null, since: null, acknowledged: 9, rejected: 0, late: 0, aged_out: 0,
  stages: [{ name: 'enriched', accounted: 9, in_flight: 0, lost, twice: 0, repeated: 0 }],
})
const kill: Failure = {
  process: 'spark', kind: 'kill', began_at: ago(7), ended_at: null, back_after_s: null, caught_up_after_s: null,
}

function told(
  told: Pipeline | null, failures: Failure[] = [], account: Ledger | null = ledger('exact'), now = NOW,
) {
  const flows = flowsOf(told?.stages ?? [], worksOf(told, null, failures, now))
  const headline = headlineOf(told, flows, failures, tellLedger(account, account && now, now, false), now)
  return { ...headline, announced: announcementOf(told, flows, failures, now) }
}

it('says what was killed, where tweets wait, and whether any was lost', () => {
  expect(told(pipeline(3.8), [kill])).toMatchObject({
    tone: 'bad',
    what: 'spark was killed 7 s ago: not back yet.',
    where: 'Tweets wait: 3,800 in tweets-raw before enriched (3.8 s).',
    lost: 'No tweet was lost, none is there twice.',
  })
})

it('says how long the recovery took, for some minutes', () => {
  const over = { ...kill, back_after_s: 2.1, caught_up_after_s: 6.4 }
  expect(told(pipeline(0.4), [over])).toMatchObject({
    tone: 'ok', what: 'spark was killed 7 s ago: back after 2.1 s, caught up after 6.4 s.',
    where: 'No stage lets tweets wait for 2 s.',
  })
  expect(told(pipeline(0.4), [{ ...over, began_at: ago(600) }]).what).toBe('Every stage keeps up.')
})

it('names the stage that limits, since when, and whether it gets better', () => {
  const limiting = { stage: 'searchable', since: ago(125), trend: 'worse' } as const
  expect(told(pipeline(0.4, { limiting })).what)
    .toBe('The stage searchable limits the others, for 2 min, getting worse.')
})

it('tells nothing flows from nothing is known', () => {
  expect(told(null)).toMatchObject({ tone: 'unknown', what: 'Waiting for the stages to report.' })
  expect(told(pipeline(null, { source: null }))).toMatchObject({
    what: 'No tweets flow: there is no source yet.', where: 'No tweet has been published, and none waits.',
  })
  const idle = (['published', 'enriched', 'ranked', 'searchable'] as const).map((name) => stage(name, 0, 0))
  expect(told(pipeline(0, { stages: idle })).what).toBe('No tweets flow: the source synthetic brings none.')
  expect(told(pipeline(0, { stages: idle, source_ended_at: ago(9) })).what)
    .toBe('No tweets flow: the source synthetic has ended.')
  expect(told(pipeline(null))).toMatchObject({ where: 'Where tweets wait is unknown.' })
})

it('never takes an unknown ledger for one without a loss', () => {
  expect(told(pipeline(0.4), [], null).lost).toBe('Whether any was lost is unknown: the ledger is.')
  expect(told(pipeline(0.4), [], ledger('off')).lost).toContain('off')
  expect(told(pipeline(0.4), [], ledger('differs', 3)).lost).toBe('Tweets lost: 3, twice: 0.')
})

it('announces what changes, and no age', () => {
  const later = told(pipeline(5.8), [kill], ledger('exact'), NOW + 2_000)
  expect(later.announced).toBe(told(pipeline(3.8), [kill]).announced)
  expect(later.announced).toBe('spark, kill: not back yet')
  expect(told(pipeline(0.4), [{ ...kill, back_after_s: 2.1, caught_up_after_s: 6.4 }]).announced)
    .toBe('spark, kill: back after 2.1 s, caught up after 6.4 s')
})
