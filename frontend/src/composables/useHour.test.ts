import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ref } from 'vue'
import { inScope, jsonResponse } from '@/composables/scope.testing'
import { useHour } from '@/composables/useHour'

const answer = vi.fn<(url: string) => Promise<Response>>()
beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('fetch', answer)
  answer.mockReset().mockImplementation(async () => jsonResponse({ window: '1h', tweets: 7, hashtags: [] }))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('asks for the ranking of the hour again and again, and keeps it while the API fails', async () => {
  const hour = inScope(() => useHour(ref(false)))
  await vi.advanceTimersByTimeAsync(0)
  expect(hour.value?.tweets).toBe(7)
  expect(answer.mock.calls[0]![0]).toContain('window=1h')
  answer.mockRejectedValue(new TypeError('network'))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(answer.mock.calls.length).toBeGreaterThan(2)
  expect(hour.value?.tweets).toBe(7)
})

it('asks for nothing while paused', async () => {
  inScope(() => useHour(ref(true)))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(answer).not.toHaveBeenCalled()
})
