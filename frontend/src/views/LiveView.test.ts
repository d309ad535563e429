import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import type { Pipeline } from '@/api/client'
import LiveView from '@/views/LiveView.vue'

enableAutoUnmount(afterEach)

/** What the page listens to. */
class Stream extends EventTarget {
  static opened: Stream
  constructor() {
    super()
    Stream.opened = this
  }

  close() {}

  send(pipeline: Pipeline) {
    this.dispatchEvent(new MessageEvent('pipeline', { data: JSON.stringify(pipeline) }))
    return nextTick()
  }
}

beforeEach(() => {
  vi.stubGlobal('EventSource', Stream)
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }))
  vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} })
})
afterEach(() => void vi.unstubAllGlobals())

it('says that the host of a live source is not reached, before any tweet came and until it answers', async () => {
  const pipeline = {
    middleware: 'kafka', durability: 'fsync', durability_asked: true, replicas: 1, source: null, source_kind: null,
    source_ended_at: null, stages: [],
  } as const
  const wrapper = mount(LiveView)
  expect(wrapper.text()).not.toContain('No live tweets')
  await Stream.opened.send({ ...pipeline, stages: [], source_problem: 'bluesky: ws://host is not reached (refused)' })
  expect(wrapper.text()).toContain('No live tweets: bluesky: ws://host is not reached (refused)')
  await Stream.opened.send({ ...pipeline, stages: [], source: 'bluesky', source_problem: null })
  expect(wrapper.text()).not.toContain('No live tweets')
})
