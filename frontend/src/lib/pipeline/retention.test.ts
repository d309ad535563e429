// @vitest-environment node
import { expect, it } from 'vitest'
import type { Stage, StageName } from '@/api/client'
import { retentionNotice } from '@/lib/pipeline/retention'

const stage = (name: StageName, retention_used: number | null): Stage => ({
  name, rate_per_s: 1, lag_events: 0, lag_seconds: 0, latency_ms: { p50: null, p95: null, p99: null }, retention_used,
})

it('is silent below half, and where nothing is known', () => {
  expect(retentionNotice([stage('published', null), stage('enriched', 0.49)])).toBeNull()
})

it.each([[0.5, 'warning', 'Warning'], [0.79, 'warning', 'Warning'], [0.8, 'alarm', 'Alarm'], [1.2, 'alarm', 'Alarm']])(
  'says at %d that it is a %s, in words', (used, level, word) => {
    const notice = retentionNotice([stage('enriched', used), stage('ranked', 0.1)])
    expect(notice?.level).toBe(level)
    expect(notice?.text).toContain(`${word}: share of the retention used: enriched ${Math.round(used * 100)}\u00a0%.`)
  })

it('names the worst first', () => {
  expect(retentionNotice([stage('enriched', 0.6), stage('ranked', 0.9)])?.text)
    .toContain('ranked 90\u00a0%, enriched 60\u00a0%.')
})
