import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Ranking } from '@/api/client'
import TrendingPanel from '@/components/TrendingPanel.vue'
import type { Panel } from '@/composables/useLive'

enableAutoUnmount(afterEach)
beforeEach(() => void vi.stubGlobal('ResizeObserver', class { observe() {} disconnect() {} }))
afterEach(() => void vi.unstubAllGlobals())

const ranking = (...hashtags: string[]): Ranking => ({
  window: '1m', as_of: '2026-11-28T10:00:00Z', tweets: 7,
  hashtags: hashtags.map((hashtag, index) => ({ hashtag, count: 5, share: 0.5, rank: index + 1, previous_rank: null })),
})

function panel(content: Partial<Panel<Ranking>>) {
  HTMLCanvasElement.prototype.getContext = () => null
  return mount(TrendingPanel, {
    props: { panel: { data: null, receivedAt: null, problem: null, ...content }, standing: null, window: '1m' },
  })
}

it('says before the first ranking that it comes, and shows no empty cloud', () => {
  const wrapper = panel({})
  expect(wrapper.get('.empty').text()).toContain('Waiting for the first ranking')
  expect(wrapper.find('svg').exists()).toBe(false)
})

it('has nothing rise in the first minute, and says when it will', () => {
  const wrapper = panel({ data: ranking('new'), receivedAt: Date.now() })
  expect(wrapper.get('.legend').text()).toContain('What rises shows once there is more of the last hour')
  expect(wrapper.find('.rising').exists()).toBe(false)
  expect(wrapper.find('[data-change=new]').exists()).toBe(false)
})

it('tells an empty window from a ranking that is still to come', () => {
  const wrapper = panel({ data: ranking(), receivedAt: Date.now() })
  expect(wrapper.get('.empty').text()).toContain('No hashtags in the last 1m.')
  expect(wrapper.text()).not.toContain('Waiting')
})

it('keeps the last ranking while a store is down, says how old it is, and where to look', () => {
  const wrapper = panel({ data: ranking('kept'), receivedAt: Date.now() - 12_000, problem: 'Redis does not answer.' })
  expect(wrapper.get('.notice').text()).toMatch(
    /^Showing data from 12 s ago; trending unavailable: Redis does not answer\..*\.\/murmur status tells/s)
  expect(wrapper.get('.ranking').text()).toContain('#kept')
})

it('says what is down where nothing ever came', () => {
  const wrapper = panel({ problem: 'Redis does not answer.' })
  expect(wrapper.get('.notice').text()).toContain('trending unavailable: Redis does not answer.')
  expect(wrapper.text()).not.toContain('Waiting')
})
