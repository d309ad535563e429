import type { Experiment, ExperimentDetail } from '@/api/client'

export function experiment(known: Partial<Experiment> = {}): Experiment {
  return {
    id: 'one', verdict: 'pass', limited_by: null, reason: null, rate_per_s: 1000, seconds: 60, workload: 'realistic',
    middleware: 'pravega', durability: 'fsync', commit: 'abc', machine: 'Z80, 2 cores',
    began_at: '2026-11-28T10:00:00Z', latency_ms: [{ name: 'searchable', p50: 500, p95: 800, p99: 1_000 }], ...known,
  }
}

export function detail(known: Partial<ExperimentDetail> = {}): ExperimentDetail {
  return {
    ...experiment(), command: null, phase: null, conditions: [], tweets: null, idle_cpu: null, reference_ms: null,
    cpu_seconds_per_1000: null, backlog_at: [], backlog: [], settings: [], ...known,
  }
}
