import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Pipeline, Stage } from '@/api/client'
import PipelineStrip from '@/components/PipelineStrip.vue'

enableAutoUnmount(afterEach)
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const kafka = {
  middleware: 'kafka', durability: 'fsync', durability_asked: true, replicas: 1, source: null,
  source_kind: null, source_ended_at: null, source_problem: null, limiting: null,
} as const
const nothing = { p50: null, p95: null, p99: null }
const stages: Stage[] = [
  {
    name: 'published', rate_per_s: 1_000, lag_events: 0, lag_seconds: 0,
    latency_ms: { p50: 20, p95: 40, p99: 60 }, retention_used: null,
  },
  {
    name: 'enriched', rate_per_s: 400, lag_events: 9_000, lag_seconds: 9,
    latency_ms: { p50: 5_000, p95: 8_000, p99: 9_000 }, retention_used: 0.2,
  },
  { name: 'ranked', rate_per_s: 0, lag_events: 0, lag_seconds: 9, latency_ms: nothing, retention_used: null },
  {
    name: 'searchable', rate_per_s: null, lag_events: null, lag_seconds: null,
    latency_ms: nothing, retention_used: null,
  },
]

function strip(problem: string | null = null, data: Pipeline | null = { ...kafka, stages }) {
  const receivedAt = data && Date.now() - 12_000
  return mount(PipelineStrip, { props: { panel: { data, receivedAt, problem }, history: {} } })
}

it('names the bottleneck, and labels each pressure in words', () => {
  const wrapper = strip()
  expect(wrapper.get('.summary').text()).toBe('Bottleneck: enriched.')
  expect(wrapper.findAll('.label').map((label) => label.text())).toEqual(['ok', 'behind · bottleneck', 'ok', 'unknown'])
})

it('tells a true zero from what is unavailable', () => {
  const wrapper = strip()
  expect(wrapper.get('[data-stage=ranked] .rate').text()).toBe('0 tweets/s')
  expect(wrapper.get('[data-stage=searchable] .rate').text()).toBe('– tweets/s')
  expect(wrapper.get('[data-stage=searchable] [data-lag]').text()).toBe('–')
})

it('keeps the stages when they fail to come, with their age', () => {
  const wrapper = strip('Redis does not answer.')
  expect(wrapper.get('.notice').text()).toBe('Showing data from 12 s ago; pipeline unavailable: Redis does not answer.')
  expect(wrapper.findAll('.stage')).toHaveLength(4)
})

it('says what is wrong when nothing ever came', () => {
  expect(strip('Redis does not answer.', null).text()).toContain('pipeline unavailable: Redis does not answer.')
})

it('warns of a retention that is about to overtake a stage, and alarms later', () => {
  const at = (retention_used: number) => strip(null, {
    ...kafka, stages: stages.map((stage) => ({ ...stage, retention_used })),
  })
  expect(at(0.3).find('.retention').exists()).toBe(false)
  expect(at(0.6).get('.retention').attributes('role')).toBe('status')
  expect(at(0.9).get('[role=alert]').text()).toContain('Alarm: share of the retention used: published 90\u00a0%')
})
