import { beforeEach, afterEach, describe, expect, it, vi } from 'vitest'
import { ref } from 'vue'
import type { Window } from '@/api/client'
import { inScope, jsonResponse } from '@/composables/scope.testing'
import { useLive } from '@/composables/useLive'

/** jsdom has no EventSource; this one is told what the server does. */
class FakeEventSource extends EventTarget {
  static opened: FakeEventSource[] = []
  closed = false
  constructor(readonly url: string) {
    super()
    FakeEventSource.opened.push(this)
  }
  close() {
    this.closed = true
  }
  send(type: string, body: unknown) {
    this.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(body) }))
  }
}

const ranking = (window: Window, tweets = 1) => ({ window, as_of: '2026-11-21T12:00:00Z', tweets, hashtags: [] })
const pipeline = {
  middleware: 'pravega', durability: 'fsync', durability_asked: false, replicas: 1, source: null,
  source_kind: null, source_ended_at: null, source_problem: null, limiting: null,
  stages: [],
}
const ledger = {
  state: 'exact', as_of: '2026-11-21T12:00:00Z', since: null, acknowledged: 3, stages: [], rejected: 0, late: 0,
  aged_out: 0,
}
const answer = vi.fn<(url: string) => Response | Promise<Response>>()
const bodyOf = (url: string) =>
  url.includes('trending') ? ranking('5m') : url.includes('ledger') ? ledger : pipeline
const stream = () => FakeEventSource.opened.at(-1)!

beforeEach(() => {
  vi.useFakeTimers()
  FakeEventSource.opened = []
  vi.stubGlobal('EventSource', FakeEventSource)
  vi.stubGlobal('fetch', answer)
  answer.mockReset().mockImplementation(async (url) =>
    jsonResponse(bodyOf(url)))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const live = (window = ref<Window>('5m')) => inScope(() => useLive(window))

describe('the stream', () => {
  it('fills every panel without a request', () => {
    const { trending, pipeline: stages, ledger: account, connection } = live()
    stream().dispatchEvent(new Event('open'))
    stream().send('trending', ranking('5m', 7))
    stream().send('pipeline', pipeline)
    stream().send('ledger', ledger)
    expect(account.data?.acknowledged).toBe(3)
    expect(connection.value).toBe('streaming')
    expect(trending.data?.tweets).toBe(7)
    expect(stages.data?.middleware).toBe('pravega')
    expect(answer).not.toHaveBeenCalled()
  })

  it('is opened anew for another window, whose first ranking replaces that of the former', async () => {
    const window = ref<Window>('5m')
    const { trending } = live(window)
    const former = stream()
    former.send('trending', ranking('5m'))
    window.value = '1h'
    await vi.advanceTimersByTimeAsync(0)
    expect(former.closed).toBe(true)
    expect(stream().url).toContain('window=1h')
    former.send('trending', ranking('5m', 99))
    expect(trending.data).toMatchObject({ window: '5m', tweets: 1 })
    stream().send('trending', ranking('1h', 5))
    expect(trending.data).toMatchObject({ window: '1h', tweets: 5 })
  })

  it('that falls silent is asked about', async () => {
    live()
    stream().dispatchEvent(new Event('open'))
    stream().send('trending', ranking('5m'))
    stream().send('pipeline', pipeline)
    stream().send('ledger', ledger)
    await vi.advanceTimersByTimeAsync(6_000)
    expect(answer).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(6_000)
    expect(answer).toHaveBeenCalled()
  })
})

describe('without the stream', () => {
  it('polls, and tries the stream again later', async () => {
    const { trending, connection } = live()
    stream().dispatchEvent(new Event('error'))
    await vi.advanceTimersByTimeAsync(0)
    expect(connection.value).toBe('polling')
    expect(trending.data?.window).toBe('5m')
    const asked = answer.mock.calls.length
    await vi.advanceTimersByTimeAsync(4_100)
    expect(answer.mock.calls.length).toBeGreaterThan(asked)
    await vi.advanceTimersByTimeAsync(6_000)
    expect(FakeEventSource.opened).toHaveLength(2)
    stream().dispatchEvent(new Event('open'))
    expect(connection.value).toBe('streaming')
  })

  it('keeps the last data of the failing panel, and the others live on', async () => {
    const { trending, pipeline: stages } = live()
    stream().send('trending', ranking('5m', 9))
    answer.mockImplementation(async (url) =>
      url.includes('trending')
        ? jsonResponse({ detail: 'No ranking is published yet.' }, 503, { 'Retry-After': '2' })
        : jsonResponse(bodyOf(url)))
    const receivedAt = trending.receivedAt
    stream().dispatchEvent(new Event('error'))
    await vi.advanceTimersByTimeAsync(0)
    expect(trending).toMatchObject({ problem: 'No ranking is published yet.', receivedAt, data: { tweets: 9 } })
    expect(stages.problem).toBeNull()
    expect(stages.data).not.toBeNull()
  })

  it('waits as long as Retry-After asks', async () => {
    live()
    answer.mockImplementation(async () => jsonResponse({ detail: 'down' }, 503, { 'Retry-After': '7' }))
    stream().dispatchEvent(new Event('error'))
    await vi.advanceTimersByTimeAsync(6_500)
    expect(answer).toHaveBeenCalledTimes(3)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(answer).toHaveBeenCalledTimes(6)
  })

  it('says so when the server cannot be reached, and recovers', async () => {
    const { trending, connection } = live()
    answer.mockRejectedValue(new TypeError('network'))
    stream().dispatchEvent(new Event('error'))
    await vi.advanceTimersByTimeAsync(0)
    expect(connection.value).toBe('offline')
    expect(trending.problem).toBe('the server cannot be reached')
    answer.mockImplementation(async (url) => jsonResponse(bodyOf(url)))
    await vi.advanceTimersByTimeAsync(2_100)
    expect(connection.value).toBe('polling')
    expect(trending.problem).toBeNull()
  })
})

it('has no stream while nobody sees it, and polls', async () => {
  const { connection } = live()
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  document.dispatchEvent(new Event('visibilitychange'))
  expect(stream().closed).toBe(true)
  await vi.advanceTimersByTimeAsync(2_100)
  expect(connection.value).toBe('polling')
  expect(FakeEventSource.opened).toHaveLength(1)
  hidden.mockReturnValue(false)
  document.dispatchEvent(new Event('visibilitychange'))
  expect(FakeEventSource.opened).toHaveLength(2)
  hidden.mockRestore()
})

it('asks for nothing while paused', async () => {
  const { paused, setPaused } = live()
  setPaused(true)
  expect(paused.value).toBe(true)
  expect(stream().closed).toBe(true)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(answer).not.toHaveBeenCalled()
  setPaused(false)
  expect(FakeEventSource.opened).toHaveLength(2)
})
