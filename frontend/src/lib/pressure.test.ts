// @vitest-environment node
import { describe, expect, it } from 'vitest'
import type { Stage, StageName } from '@/api/client'
import { stateOf } from '@/lib/pressure'

function stage(
  name: StageName, lag_seconds: number | null, rate_per_s: number | null = 100, lag_events: number | null = 0,
): Stage {
  const latency_ms = { p50: null, p95: null, p99: null }
  return { name, rate_per_s, lag_events, lag_seconds, latency_ms, retention_used: null }
}

describe('pressure', () => {
  it('is unknown, not ok, where nothing is reported', () => {
    const silent = stage('searchable', null, null, null)
    expect(stateOf(silent, [silent]).pressure).toBe('unknown')
  })

  it('is ok at a true zero', () => {
    const idle = stage('ranked', 0, 0)
    expect(stateOf(idle, [stage('enriched', 0, 0), idle])).toEqual({ pressure: 'ok', level: 0, ownLagSeconds: 0 })
  })

  it('is stalled when events wait and none completes', () => {
    const stuck = stage('ranked', 20, 0, 5_000)
    expect(stateOf(stuck, [stage('enriched', 0), stuck]).pressure).toBe('stalled')
  })

  it('blames a stage only for the lag that it adds', () => {
    const stages = [stage('published', 0), stage('enriched', 12), stage('ranked', 12.5), stage('searchable', 13)]
    expect(stages.map((each) => stateOf(each, stages).pressure)).toEqual(['ok', 'behind', 'ok', 'ok'])
  })
})
