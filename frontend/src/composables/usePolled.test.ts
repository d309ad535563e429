import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ref } from 'vue'
import { ApiError } from '@/api/client'
import { inScope } from '@/composables/scope.testing'
import { usePolled } from '@/composables/usePolled'

const answer = vi.fn<() => Promise<number>>()
const paused = ref(false)
beforeEach(() => {
  vi.useFakeTimers()
  paused.value = false
  answer.mockReset().mockResolvedValue(1)
})
afterEach(() => void vi.useRealTimers())

async function polled() {
  const panel = inScope(() => usePolled(answer, 1_000, paused))
  await vi.advanceTimersByTimeAsync(0)
  return panel
}

it('keeps the last data and their time when it fails, and goes on', async () => {
  const panel = await polled()
  const { receivedAt } = panel
  answer.mockRejectedValueOnce(new ApiError('Redis does not answer.', 503))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(panel).toMatchObject({ data: 1, receivedAt, problem: 'Redis does not answer.', absent: false })
  await vi.advanceTimersByTimeAsync(1_000)
  expect(panel).toMatchObject({ problem: null, receivedAt: Date.now() })
})

it('takes what the server does not have for unknown, not for a problem', async () => {
  answer.mockRejectedValue(new ApiError('There is nothing', 404))
  expect(await polled()).toMatchObject({ data: null, problem: null, absent: true })
})

it('asks neither while paused nor sooner than the server wants', async () => {
  paused.value = true
  await polled()
  expect(answer).not.toHaveBeenCalled()
  paused.value = false
  answer.mockRejectedValueOnce(new ApiError('busy', 503, 5))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(answer).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(answer.mock.calls.length).toBeGreaterThan(1)
})

it('does not ask twice at a time', async () => {
  let reply: (value: number) => void = () => undefined
  answer.mockImplementation(() => new Promise((resolve) => (reply = resolve)))
  await polled()
  await vi.advanceTimersByTimeAsync(3_000)
  expect(answer).toHaveBeenCalledTimes(1)
  reply(2)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(answer).toHaveBeenCalledTimes(2)
})
