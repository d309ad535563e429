// @vitest-environment node
import { describe, expect, it } from 'vitest'
import type { Failure, Process, Stage, StageName } from '@/api/client'
import { flowsOf, placesOf, serversOf, worksOf } from '@/lib/pipeline/graph'

const NOW = Date.UTC(2026, 10, 28, 12)

const process = (name: string, known: Partial<Process> = {}): Process => ({
  name, state: 'running', pid: 1, up_since: null, restarts: 0, cpu_share: null, memory_bytes: null, ...known,
})
const all = (...others: Process[]) =>
  [...['ingest-http', 'redis', 'search', 'spark', 'trending'].map((name) => process(name))
    .filter(({ name }) => !others.some((other) => other.name === name)), ...others]
const killed = (name: string): Failure => ({
  process: name, kind: 'kill', began_at: new Date(NOW - 2_000).toISOString(), ended_at: null, back_after_s: null,
  caught_up_after_s: null,
})
function works(
  processes: Process[] | null, failures: Failure[] = [], source_kind: 'pushed' | 'invented' = 'invented',
) {
  return worksOf({ source_kind }, processes, failures, NOW)
}
const gone = { state: 'backoff', pid: null }

const stage = (name: StageName, events: number | null, seconds: number | null, rate: number | null = 100): Stage => ({
  name, rate_per_s: rate, lag_events: events, lag_seconds: seconds, latency_ms: { p50: 1, p95: 2, p99: 3 },
  retention_used: 0.1,
})

describe('who works where', () => {
  it('knows the nodes of a process, and that a server has none', () => {
    expect(placesOf('spark')).toEqual(['enriched', 'counted'])
    expect([placesOf('trending-1'), placesOf('search'), placesOf('ingest-http')])
      .toEqual([['ranked'], ['searchable'], ['published']])
    expect(placesOf('segmentstore')).toEqual([])
  })

  it('has both nodes of Spark down when it is killed, in words, and no other', () => {
    const { enriched, counted, ranked, searchable } = works(all(process('spark', gone)), [killed('spark')])
    expect([enriched, counted]).toEqual(Array(2).fill({ state: 'down', words: 'spark killed' }))
    expect([ranked.state, searchable.state]).toEqual(['runs', 'runs'])
  })

  it('does not take a process that was started anew for one that does its work', () => {
    expect(works(all(), [killed('spark')]).enriched).toEqual({ state: 'starts', words: 'spark killed, starts again' })
    expect(works(all(), [{ ...killed('spark'), back_after_s: 2 }]).enriched.state).toBe('runs')
  })

  it('goes on as long as one member of a group does', () => {
    const { searchable } = works(all(process('search', gone), process('search-1')))
    expect(searchable).toEqual({ state: 'runs', words: 'search backoff; search-1 runs' })
  })

  it('tells paused and slowed ones', () => {
    expect(works(all(process('trending', { state: 'paused' }))).ranked)
      .toEqual({ state: 'down', words: 'trending paused' })
    expect(works(all(), [{ ...killed('search'), kind: 'slow' }]).searchable.state).toBe('disturbed')
  })

  it('is unknown where nobody tells of processes, but for a kill', () => {
    expect(works(null).enriched).toEqual({ state: 'unknown', words: 'process unknown' })
    expect(works(null, [killed('spark')]).enriched.state).toBe('down')
  })

  it('needs the endpoint for pushed tweets only where tweets are pushed', () => {
    const without = all(process('ingest-http', gone))
    expect(works(without).published.state).toBe('unknown')
    expect(works(without, [], 'pushed').published.state).toBe('down')
  })
})

describe('servers', () => {
  it('are told together, and by name if one is missing', () => {
    const store = process('segmentstore', gone)
    expect(serversOf(all(), [], NOW)).toEqual({ state: 'runs', words: 'redis runs' })
    expect(serversOf(all(process('milvus')), [], NOW)).toEqual({ state: 'runs', words: 'all 2 run' })
    expect(serversOf(all(store), [killed('segmentstore')], NOW))
      .toEqual({ state: 'down', words: 'segmentstore killed' })
  })

  it('are unknown where nobody tells of processes, but for a kill', () => {
    expect(serversOf(null, [], NOW)).toEqual({ state: 'unknown', words: 'unknown' })
    expect(serversOf(null, [killed('spark'), killed('redis')], NOW)).toEqual({ state: 'down', words: 'redis killed' })
  })
})

describe('streams', () => {
  const stages = [
    stage('published', 0, 0, 1_000), stage('enriched', 400, 0.4, 900), stage('ranked', 1_000, 1),
    stage('searchable', 500, 0.5),
  ]
  const flows = (processes: Process[], failures: Failure[] = []) =>
    Object.fromEntries(flowsOf(stages, works(processes, failures)).map((flow) => [flow.to, flow]))

  it('hold what waits for their own reader, and are as wide as what flows in', () => {
    const { enriched, searchable, counted, ranked } = flows(all())
    expect([enriched!.events, searchable!.events, counted!.events, ranked!.events]).toEqual([400, 100, 600, null])
    expect([enriched!.rate, searchable!.rate]).toEqual([1_000, 900])
    expect(searchable!.seconds).toBeCloseTo(0.1)
    expect(ranked!.without).not.toBeNull()
  })

  it('fill by what they must not hold any longer, too', () => {
    const full = stages.map((each) => ({ ...each, retention_used: 0.9 }))
    expect(flowsOf(full, works(all()))[0]!.level).toBe(0.9)
  })

  it('fill when nobody reads, before any delay tells', () => {
    const { enriched, counted, searchable } = flows(all(process('spark', gone)), [killed('spark')])
    expect([enriched!.pressure, counted!.pressure, searchable!.pressure]).toEqual(['stalled', 'stalled', 'ok'])
  })

  it('hold it behind the counting when only the consumer is missing', () => {
    const { counted, ranked } = flows(all(process('trending', gone)))
    expect([counted!.events, ranked!.events, ranked!.pressure]).toEqual([null, 600, 'stalled'])
  })

  it('are unknown, not empty, where no stage reports', () => {
    const [raw] = flowsOf([], works(null))
    expect(raw).toMatchObject({ events: null, seconds: null, rate: null, pressure: 'unknown', retention: null })
    const [silent] = flowsOf([stage('published', 0, 0), stage('enriched', null, null, null)], works(all()))
    expect(silent).toMatchObject({ events: null, seconds: null, pressure: 'unknown' })
  })
})

it('is full of what waits for one that is away, though nobody tells for how long', () => {
  const stages = [stage('published', 0, 0), stage('enriched', 2036, null, null)]
  expect(flowsOf(stages, works(all(process('spark', gone)), [killed('spark')]))[0])
    .toMatchObject({ pressure: 'stalled', level: 1, events: 2036, seconds: null })
})
