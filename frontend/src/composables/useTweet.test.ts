import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { effectScope, nextTick, reactive } from 'vue'
import type { Pipeline } from '@/api/client'
import { inScope, jsonResponse } from '@/composables/scope.testing'
import type { Panel } from '@/composables/useLive'
import { useTweet } from '@/composables/useTweet'

const answer = vi.fn<(url: string) => Response>()
let found: string[]
beforeEach(() => {
  found = []
  vi.useFakeTimers()
  vi.stubGlobal('fetch', async (url: string) => answer(url))
  answer.mockReset().mockImplementation((url) => url.startsWith('/control')
    ? jsonResponse({ id: '17' }, 201)
    : jsonResponse({ hits: found.map((tweet_id) => ({ tweet_id })) }))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function begin() {
  const pipeline = reactive({ data: null, receivedAt: null, problem: null }) as Panel<Pipeline>
  const tweet = inScope(() => useTweet(pipeline))
  tweet.text.value = 'a text of mine'
  /** The stages report, `lag` seconds behind. */
  const report = (lag: number) => {
    const stages = ['published', 'enriched', 'ranked', 'searchable'].map((name) => ({ name, lag_seconds: lag }))
    Object.assign(pipeline, { data: { stages }, receivedAt: Date.now() })
    return nextTick()
  }
  return { ...tweet, report }
}

it('is published when that is answered, and searchable when a search finds it and no other', async () => {
  const { passedAt, send } = begin()
  await send()
  expect(Object.keys(passedAt)).toEqual(['published'])
  found = ['16']
  await vi.advanceTimersByTimeAsync(2_000)
  found = ['16', '17']
  await vi.advanceTimersByTimeAsync(1_000)
  expect(Object.keys(passedAt)).toEqual(['published', 'searchable'])
  const searches = answer.mock.calls.map(([url]) => url).filter((url) => url.includes('/search'))
  expect(new Set(searches).size).toBe(searches.length)
})

it('waits before a stage that is further behind than the tweet is old', async () => {
  const { passedAt, send, report } = begin()
  await send()
  await vi.advanceTimersByTimeAsync(3_000)
  await report(10)
  expect(passedAt.enriched).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1_000)
  await report(2)
  expect(passedAt.enriched).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1_000)
  await report(1)
  expect(passedAt.enriched).toBe(Date.now())
  expect(passedAt.ranked).toBe(Date.now())
})

it('says why it was not published', async () => {
  answer.mockImplementation(() => jsonResponse({ detail: 'an experiment runs' }, 409))
  const { passedAt, problem, sentAt, send } = begin()
  await send()
  expect(problem.value).toBe('Not published: an experiment runs')
  expect([sentAt.value, Object.keys(passedAt)]).toEqual([null, []])
})

it.each([['a report made before it was published', 0, 100], ['one that is just as old', 1.1, 1_100]])(
  'is in no stage by %s', async (_, lag, ms) => {
    const { passedAt, send, report } = begin()
    await send()
    await vi.advanceTimersByTimeAsync(ms)
    await report(lag)
    expect(Object.keys(passedAt)).toEqual(['published'])
  })

it('may be sent again when it is answered, and may be published without an answer', async () => {
  let fail: (error: Error) => void = () => undefined
  vi.stubGlobal('fetch', () => new Promise((_, reject) => (fail = reject)))
  const { isSending, problem, send } = begin()
  const sending = send()
  expect(isSending.value).toBe(true)
  fail(new TypeError('gone'))
  await sending
  expect(isSending.value).toBe(false)
  expect(problem.value).toBe('It may not have been published: the server cannot be reached')
})

it('asks for nothing when the view has gone meanwhile', async () => {
  let publish: (response: Response) => void = () => undefined
  answer.mockImplementation(() => jsonResponse({ hits: [] }))
  vi.stubGlobal('fetch', (url: string) =>
    url.startsWith('/control') ? new Promise((resolve) => (publish = resolve)) : answer(url))
  const scope = effectScope()
  const tweet = scope.run(() => useTweet(reactive({ data: null, receivedAt: null, problem: null })))!
  tweet.text.value = 'a text'
  const sending = tweet.send()
  scope.stop()
  publish(jsonResponse({ id: '17' }, 201))
  await sending
  await vi.advanceTimersByTimeAsync(10_000)
  expect(answer).not.toHaveBeenCalled()
})
