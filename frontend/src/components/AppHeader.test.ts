import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Pipeline } from '@/api/client'
import AppHeader from '@/components/AppHeader.vue'

enableAutoUnmount(afterEach)
/** jsdom knows no media. */
beforeEach(() => void vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false })))
afterEach(() => void vi.unstubAllGlobals())

/** What stands below the name of the page, and what explains it. */
function told(
  known: Pick<Pipeline, 'durability' | 'durability_asked'> & Partial<Pipeline>, replicas = 1,
) {
  const pipeline = {
    middleware: 'kafka', stages: [], replicas, source: 'x', source_kind: 'live' as const, source_ended_at: null,
    source_problem: null, limiting: null, ...known,
  }
  const wrapper = mount(AppHeader, {
    props: { view: '/', window: '5m', connection: 'streaming', paused: false, pipeline, receivedAt: null },
  })
  const line = wrapper.get('.brand p')
  return [line.text(), line.attributes('title')]
}

it('tells a durability that the server was asked for from one that was only configured', () => {
  expect(told({ durability: 'fsync', durability_asked: true }))
    .toEqual(['on kafka · fsync · live: x', 'acknowledged means on disk, as the running server says'])
  expect(told({ durability: 'page-cache', durability_asked: false }))
    .toEqual([
      'on kafka · page-cache, configured · live: x',
      'acknowledged may be lost with the machine, as the running server was configured; it cannot be asked',
    ])
})

it('says how many replicas are configured, which is not how many there are', () => {
  expect(told({ durability: 'fsync', durability_asked: true }, 3)[0])
    .toBe('on kafka · fsync · live: x · 3 replicas, configured')
})

it('says that a durability is unknown', () => {
  expect(told({ durability: null, durability_asked: null }))
    .toEqual(['on kafka · durability unknown · live: x', 'no server has said what acknowledged means'])
})

it('says that a source has ended, and for how long it is already', () => {
  const ended = new Date(Date.now() - 120_000).toISOString()
  expect(told({ durability: 'fsync', durability_asked: true, source_ended_at: ended })[0])
    .toBe('on kafka · fsync · was live: x, ended 2 min ago')
})
