import { expect, it } from 'vitest'
import { compareSettings, scatter } from '@/lib/experiments'
import { detail, experiment } from '@/lib/experiments.testing'

const latency = (p99: number | null) => [{ name: 'searchable' as const, p50: 1, p95: 1, p99 }]

it('puts what differs first, and what only one of them knows', () => {
  const left = detail({ settings: [{ name: 'a', value: '1' }, { name: 'b', value: '1' }, { name: 'c', value: null }] })
  const right = detail({ settings: [{ name: 'a', value: '1' }, { name: 'b', value: '2' }, { name: 'd', value: '4' }] })
  expect(compareSettings(left, right)).toEqual([
    { name: 'b', left: '1', right: '2', differs: true, shared: true },
    { name: 'c', left: null, right: null, differs: false, shared: false },
    { name: 'd', left: null, right: '4', differs: true, shared: false },
    { name: 'a', left: '1', right: '1', differs: false, shared: true },
  ])
})

it('draws latency against rate within its axes, and nothing of what has none', () => {
  const { dots, rates, latencies } = scatter([
    experiment({ id: 'low', rate_per_s: 500, latency_ms: latency(200) }),
    experiment({ id: 'high', rate_per_s: 3500, latency_ms: latency(20_000) }),
    experiment({ id: 'lost', latency_ms: latency(null) }), experiment({ id: 'running', latency_ms: [] }),
    experiment({ id: 'unknown', rate_per_s: null }),
  ], 'searchable')
  expect(dots.map((dot) => dot.experiment.id)).toEqual(['low', 'high'])
  expect(rates.map(({ value }) => value)).toEqual([0, 1000, 2000, 3000, 4000])
  expect(latencies.map(({ value }) => value)).toEqual([
    100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000])
  expect(dots[0]!.x).toBeCloseTo(500 / 4000)
  expect(dots[0]!.y).toBeCloseTo(latencies[1]!.at)
  for (const { x, y } of dots) for (const at of [x, y]) expect(at > 0 && at < 1).toBe(true)
})

it('labels only powers of ten where latencies lie far apart', () => {
  const far = [10, 20_000].map((p99, n) => experiment({ id: String(n), latency_ms: latency(p99) }))
  expect(scatter(far, 'searchable').latencies.map(({ value }) => value)).toEqual([
    1, 10, 100, 1_000, 10_000, 100_000])
})

it('has axes for a single dot, and none for no dot', () => {
  expect(scatter([experiment({ rate_per_s: 1 })], 'searchable').dots).toHaveLength(1)
  expect(scatter([experiment({ latency_ms: latency(100) })], 'searchable').latencies.map(({ value }) => value)).toEqual([
    50, 100, 200])
  expect(scatter([experiment()], 'ranked')).toEqual({ dots: [], rates: [], latencies: [] })
})
