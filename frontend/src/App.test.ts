import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import App from '@/App.vue'
import type { Pipeline } from '@/api/client'
// Loaded here, so that no test waits for a view to be compiled.
import '@/views/LiveView.vue'
import '@/views/PipelineView.vue'

enableAutoUnmount(afterEach)

/** What the page listens to. */
class Stream extends EventTarget {
  static opened: Stream[] = []
  constructor() {
    super()
    Stream.opened.push(this)
  }

  close() {}

  send(pipeline: Pipeline) {
    this.dispatchEvent(new MessageEvent('pipeline', { data: JSON.stringify(pipeline) }))
    return nextTick()
  }
}

beforeEach(() => {
  Stream.opened = []
  history.replaceState(null, '', '/')
  vi.stubGlobal('EventSource', Stream)
  vi.stubGlobal('fetch', () => new Promise(() => undefined))
  vi.stubGlobal('scrollTo', () => undefined)
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }))
  vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} })
})
afterEach(() => void vi.unstubAllGlobals())

const pipeline = {
  middleware: 'kafka', durability: 'fsync', durability_asked: true, replicas: 1, source: null, source_kind: null,
  source_ended_at: null, source_problem: null, limiting: null,
} as const

async function page() {
  const wrapper = mount(App, { attachTo: document.body })
  await vi.dynamicImportSettled()
  await flushPromises()
  return { wrapper, stream: Stream.opened[0]! }
}

it('says that the host of a live source is not reached, before any tweet came and until it answers', async () => {
  const { wrapper, stream } = await page()
  expect(wrapper.text()).not.toContain('No live tweets')
  await stream.send({ ...pipeline, stages: [], source_problem: 'bluesky: ws://host is not reached (refused)' })
  expect(wrapper.text()).toContain('No live tweets: bluesky: ws://host is not reached (refused)')
  await stream.send({ ...pipeline, stages: [], source: 'bluesky', source_problem: null })
  expect(wrapper.text()).not.toContain('No live tweets')
})

it('shows another view without a second stream, and moves the focus to it', async () => {
  const { wrapper } = await page()
  expect(wrapper.find('#trending').exists()).toBe(true)
  await wrapper.get('a[href="/pipeline"]').trigger('click')
  await vi.dynamicImportSettled()
  await flushPromises()
  expect(location.pathname).toBe('/pipeline')
  expect(wrapper.find('#trending').exists()).toBe(false)
  expect(wrapper.find('#pipeline').exists()).toBe(true)
  expect(document.title).toBe('Pipeline · Murmuration')
  expect(document.activeElement?.tagName).toBe('MAIN')
  expect(Stream.opened).toHaveLength(1)
})

it('says that there is nothing at an address of no view', async () => {
  history.replaceState(null, '', '/elsewhere')
  expect((await page()).wrapper.get('main').text()).toBe('There is nothing at this address.')
})
