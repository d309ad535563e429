import { beforeEach, expect, it } from 'vitest'
import { nextTick, reactive } from 'vue'
import type { Pipeline } from '@/api/client'
import { inScope } from '@/composables/scope.testing'
import { HISTORY_MS, useHistory } from '@/composables/useHistory'
import type { Panel } from '@/composables/useLive'

beforeEach(() => sessionStorage.clear())

const body = (rate: number | null): Pipeline => ({
  middleware: 'pravega', durability: 'fsync', durability_asked: false, replicas: 1, source: null,
  source_kind: null, source_ended_at: null, source_problem: null, limiting: null,
  stages: [{
    name: 'published', rate_per_s: rate, lag_events: 0, lag_seconds: 0,
    latency_ms: { p50: 1, p95: 2, p99: 3 }, retention_used: null,
  }],
})

async function record(samples: [number, number | null][]) {
  const panel = reactive<Panel<Pipeline>>({ data: null, receivedAt: null, problem: null })
  const history = inScope(() => useHistory(panel))
  for (const [receivedAt, rate] of samples) {
    Object.assign(panel, { receivedAt, data: body(rate) })
    await nextTick()
  }
  return history
}

it('survives a reload', async () => {
  const now = Date.now()
  await record([[now - 2_000, 5], [now - 1_000, null]])
  const reloaded = await record([])
  expect(reloaded.value.published?.map(({ rate }) => rate)).toEqual([5, null])
})

it('drops what is too old, and what comes too often', async () => {
  const now = Date.now()
  const history = await record([[now - HISTORY_MS - 5_000, 1], [now - 1_000, 2], [now - 900, 3], [now, 4]])
  expect(history.value.published?.map(({ rate }) => rate)).toEqual([2, 4])
})

it('starts empty from a damaged storage', async () => {
  sessionStorage.setItem('murmuration.history', '{"published": 3')
  expect((await record([])).value).toEqual({})
})
