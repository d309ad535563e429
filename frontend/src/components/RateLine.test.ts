import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, expect, it } from 'vitest'
import type { Pipeline, Stage } from '@/api/client'
import RateLine from '@/components/RateLine.vue'

enableAutoUnmount(afterEach)

const stage = (name: Stage['name'], rate_per_s: number | null): Stage => ({
  name, rate_per_s, lag_events: 0, lag_seconds: 0, retention_used: null,
  latency_ms: { p50: null, p95: null, p99: null },
})

it('draws a curve once there are two rates, and no empty axes before', () => {
  const panel = { data: null, receivedAt: null, problem: null }
  const at = (time: number) => ({ at: time, rate: 1, lag: 0, p99: null })
  const history = { published: [at(1000)], enriched: [at(1000), at(2000)] }
  const wrapper = mount(RateLine, { props: { panel, history } })
  expect(wrapper.findAll('li').map((each) => each.find('svg').exists())).toEqual([false, true, false, false])
})

function rates(stages: Stage[] | null, problem: string | null = null) {
  const data = stages && ({ stages } as Pipeline)
  const wrapper = mount(RateLine, { props: { panel: { data, receivedAt: data && Date.now(), problem }, history: {} } })
  return {
    notice: wrapper.find('.notice').exists(),
    told: wrapper.findAll('li').map((each) => `${each.get('h2').text()} ${each.get('strong').text()}`),
  }
}

it('tells the rate of each stage, and an unknown one from zero, from the beginning on', () => {
  const unknown = ['published –', 'enriched –', 'ranked –', 'searchable –']
  expect(rates(null).told).toEqual(unknown)
  expect(rates([stage('published', 1_000), stage('enriched', 0), stage('ranked', null)]).told)
    .toEqual(['published 1,000', 'enriched 0', 'ranked –', 'searchable –'])
})

it('keeps the last rates while there are no newer ones, and says so', () => {
  const { notice, told } = rates([stage('published', 7)], 'down')
  expect([notice, told[0]]).toEqual([true, 'published 7'])
})
