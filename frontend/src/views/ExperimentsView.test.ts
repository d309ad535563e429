import { enableAutoUnmount, flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Experiment, ExperimentDetail } from '@/api/client'
import { jsonResponse } from '@/composables/scope.testing'
import { detail, experiment } from '@/lib/experiments.testing'
import ExperimentsView from '@/views/ExperimentsView.vue'
import { mountView } from '@/views/view.testing'

enableAutoUnmount(afterEach)

let experiments: Experiment[]
let details: ExperimentDetail[]
let session: () => Response
let begin: () => Response
const posted: unknown[] = []

function answer(url: string, init: RequestInit): Response {
  if (url === '/control/session') return session()
  if (url === '/control/experiments') {
    posted.push(JSON.parse(init.body as string))
    return begin()
  }
  if (url === '/api/v1/experiments') return jsonResponse({ experiments })
  const found = details.find(({ id }) => url === `/api/v1/experiments/${encodeURIComponent(id)}`)
  return found ? jsonResponse(found) : jsonResponse({ detail: 'There is nothing at this address.' }, 404)
}

beforeEach(() => {
  experiments = []
  details = []
  posted.length = 0
  session = () => jsonResponse({ detail: 'There is nothing at this address.' }, 404)
  begin = () => jsonResponse({ id: 'new' }, 202)
  history.replaceState(null, '', '/experiments')
  vi.useFakeTimers()
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => answer(url, init))
  vi.stubGlobal('EventSource', class extends EventTarget { close() {} })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const view = () => mountView(ExperimentsView)

const OPEN = () => jsonResponse({ open: true, refused: null, actions: [] })

it('says which command makes the first experiment', async () => {
  const wrapper = await view()
  expect(wrapper.text()).toContain('No experiment yet: ./murmur load run --rate 1000')
  expect(wrapper.find('table').exists()).toBe(false)
  expect(wrapper.find('form').exists()).toBe(false)
})

it('lists them with verdicts that are told by words, and shows the one that is chosen', async () => {
  experiments = [experiment(), experiment({ id: 'a~2', verdict: 'fail', rate_per_s: 3000, commit: null })]
  details = [detail({ ...experiments[1], reason: 'latency: too long' })]
  const wrapper = await view()
  const rows = wrapper.findAll('tbody tr')
  expect(rows.map((row) => row.findAll('td')[1]!.text())).toEqual(['✓ pass', '✗ fail'])
  expect(rows[1]!.text()).toContain('3,000')
  expect(wrapper.findAll('.dot')).toHaveLength(2)
  await rows[1]!.get('button').trigger('click')
  await flushPromises()
  expect(wrapper.get('article').text()).toContain('latency: too long')
  expect(location.search).toBe('?id=a%7E2')
})

it('puts two side by side, and marks what differs', async () => {
  history.replaceState(null, '', '/experiments?id=one&beside=two')
  details = ['one', 'two'].map((id) => detail({
    id, settings: [{ name: 'partitions', value: id }, { name: 'replicas', value: '1' }],
  }))
  experiments = details
  const wrapper = await view()
  expect(wrapper.findAll('article').map((one) => one.attributes('aria-label'))).toEqual([
    'Experiment one', 'Experiment two'])
  const table = wrapper.get('section[aria-labelledby=settings-differ]')
  expect(table.get('h3').text()).toBe('1 of 2 settings that both have differs')
  expect(table.findAll('tbody tr').map((row) => row.text())).toEqual(['≠ partitionsonetwo'])
  await table.get('input').setValue(true)
  expect(table.findAll('tbody tr').map((row) => row.attributes('data-differs'))).toEqual(['true', undefined])
})

it('follows the one that runs until its verdict, without being told to', async () => {
  const running = (at: number) => detail({
    verdict: 'running', phase: 'measuring', backlog_at: [at], backlog: [{ name: 'ranked', events: [at * 10] }],
  })
  details = [running(1)]
  experiments = [experiment({ verdict: 'running', latency_ms: [] })]
  const wrapper = await view()
  expect(wrapper.get('article').text()).toContain('running: measuring')
  details = [running(2)]
  await vi.advanceTimersByTimeAsync(1_000)
  expect(wrapper.get('article li').text()).toContain('20')
  expect(wrapper.get('article li .line').attributes('d')).toMatch(/^M.*L/)
  details = [detail()]
  experiments = [experiment()]
  await vi.advanceTimersByTimeAsync(1_000)
  expect(wrapper.get('article').text()).toContain('pass')
  await vi.advanceTimersByTimeAsync(3_000)
  expect(wrapper.get('tbody tr').text()).toContain('pass')
  expect(wrapper.get('article').text()).toContain('pass')
})

it('goes on with what it has when the API does not answer, and says so', async () => {
  experiments = [experiment()]
  const wrapper = await view()
  vi.stubGlobal('fetch', async () => jsonResponse({ detail: 'down' }, 503))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(wrapper.findAll('tbody tr')).toHaveLength(1)
  expect(wrapper.text()).toContain('experiments unavailable: down')
})

it('begins one for whoever has shown the token, and shows it', async () => {
  session = OPEN
  const wrapper = await view()
  details = [detail({ id: 'new', verdict: 'running', phase: 'starting' })]
  experiments = details
  await wrapper.get('input').setValue('200')
  await wrapper.get('form').trigger('submit')
  await flushPromises()
  expect(posted).toEqual([{ rate_per_s: 200, seconds: 60, workload: 'realistic' }])
  expect(wrapper.get('article').text()).toContain('starting')
})

it('bounds rate and length, and says why one did not begin', async () => {
  session = OPEN
  begin = () => jsonResponse({ detail: 'an experiment runs on this instance' }, 409)
  const wrapper = await view()
  const bounds = wrapper.findAll('form input').map((input) => [input.attributes('min'), input.attributes('max')])
  expect(bounds).toEqual([['1', '10000'], ['10', '300']])
  await wrapper.get('form').trigger('submit')
  await flushPromises()
  expect(wrapper.get('[role=alert]').text()).toBe('It did not begin: an experiment runs on this instance')
})

it('begins none while nothing may be done', async () => {
  session = () => jsonResponse({ open: true, refused: 'an experiment runs', actions: [] })
  const wrapper = await view()
  expect(wrapper.get('form button').attributes('disabled')).toBeDefined()
  expect(wrapper.get('form').text()).toContain('Not now: an experiment runs')
})
