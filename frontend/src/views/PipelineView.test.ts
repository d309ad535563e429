import { enableAutoUnmount, flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Failure, HistoryPoint, Pipeline, Process, Stage } from '@/api/client'
import { jsonResponse } from '@/composables/scope.testing'
import PipelineView from '@/views/PipelineView.vue'
import { mountView } from '@/views/view.testing'

enableAutoUnmount(afterEach)

const stage = (name: Stage['name'], lag: number | null, rate: number | null = 1_000): Stage => ({
  name, rate_per_s: rate, lag_seconds: lag, lag_events: lag && lag * 1_000, retention_used: null,
  latency_ms: { p50: 400, p95: 600, p99: 800 },
})
const pipeline = (lag: number | null): Pipeline => ({
  middleware: 'kafka', durability: 'fsync', durability_asked: true, replicas: 1, source: 'synthetic',
  source_kind: 'invented', source_ended_at: null, source_problem: null, limiting: null,
  stages: [stage('published', 0), stage('enriched', lag), stage('ranked', lag), stage('searchable', lag, null)],
})
const process = (name: string, known: Partial<Process> = {}): Process => ({
  name, state: 'running', pid: 7, up_since: new Date(Date.now() - 90_000).toISOString(), restarts: 0, cpu_share: 0,
  memory_bytes: 219e6, ...known,
})
const kill: Failure = {
  process: 'spark', kind: 'kill', began_at: new Date(Date.now() - 7_000).toISOString(), ended_at: null,
  back_after_s: null, caught_up_after_s: null,
}
const point = (secondsAgo: number): HistoryPoint => ({
  at: new Date(Date.now() - secondsAgo * 1000).toISOString(),
  stages: [
    { name: 'enriched', rate_per_s: 1, lag_events: 0, lag_seconds: 0, latency_ms: { p50: 400, p95: 600, p99: 800 } },
  ],
})
const session = (open: boolean, refused: string | null = null) => ({
  open, refused, actions: open ? [
    { kind: 'kill', process: 'spark', why_not: null }, { kind: 'kill', process: 'redis', why_not: 'it is ours' },
  ] : [],
})

/** What is answered by path; 404 to all else. */
let answers: Record<string, () => unknown>
const posted = vi.fn<(path: string, body: unknown) => void>()

beforeEach(() => {
  answers = {
    '/api/v1/pipeline': () => pipeline(3.8),
    '/api/v1/processes': () => ({ as_of: 'now', processes: [process('redis'), process('spark')] }),
  }
  posted.mockReset()
  vi.stubGlobal('EventSource', class extends EventTarget { close() {} })
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    const [path] = url.split('?') as [string]
    if (init.method === 'POST') posted(path, JSON.parse(String(init.body)))
    const body = answers[path]?.()
    if (body instanceof Response) return body
    return body === undefined ? jsonResponse({ detail: 'There is nothing at this address.' }, 404) : jsonResponse(body)
  })
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

async function view() {
  const wrapper = await mountView(PipelineView)
  await vi.advanceTimersByTimeAsync(2_000)
  await flushPromises()
  return wrapper
}

const row = (wrapper: Awaited<ReturnType<typeof view>>, name: string) => wrapper.get(`[data-process=${name}]`)

it('turns the nodes of a killed process grey, with a word, and fills the stream before them', async () => {
  answers['/api/v1/failures'] = () => ({ failures: [kill] })
  const gone = process('spark', { state: 'backoff', pid: null })
  answers['/api/v1/processes'] = () => ({ as_of: 'now', processes: [gone] })
  const wrapper = await view()
  expect(wrapper.get('[data-place=enriched]').attributes('data-work')).toBe('down')
  expect(wrapper.get('[data-place=enriched] .work').text()).toBe('✗ spark killed')
  expect(wrapper.get('[data-to=enriched]').text()).toContain('3,800 wait · 3.8 sfills: nobody reads')
  expect(wrapper.get('.what').text()).toMatch(/^✗ spark was killed \d+ s ago: not back yet\.$/)
  expect(row(wrapper, 'spark').text()).toContain('not back yet')
})

it('says which server is down', async () => {
  answers['/api/v1/failures'] = () => ({ failures: [{ ...kill, process: 'redis' }] })
  answers['/api/v1/processes'] = () => ({
    as_of: 'now', processes: [process('spark'), process('redis', { state: 'backoff', pid: null })],
  })
  const wrapper = await view()
  expect(wrapper.get('.servers').text()).toBe('Servers below it: ✗ redis killed')
  expect(wrapper.get('[data-place=enriched]').attributes('data-work')).toBe('runs')
})

it('tells how long the recovery took', async () => {
  answers['/api/v1/failures'] = () => ({ failures: [{ ...kill, back_after_s: 2.1, caught_up_after_s: 6.4 }] })
  const wrapper = await view()
  expect(wrapper.get('.what').text()).toContain('back after 2.1 s, caught up after 6.4 s')
  expect(row(wrapper, 'spark').text()).toContain('back after 2.1 s, caught up after 6.4 s')
  expect(wrapper.get('[data-place=enriched]').attributes('data-work')).toBe('runs')
})

it('kills by a button where the session lets one, and shows the command elsewhere', async () => {
  answers['/control/session'] = () => session(true)
  answers['/control/failures'] = () => ({})
  const wrapper = await view()
  expect(row(wrapper, 'redis').get('code').text()).toBe('murmur chaos kill redis')
  await row(wrapper, 'spark').get('button').trigger('click')
  await flushPromises()
  expect(posted.mock.calls).toEqual([['/control/failures', { kind: 'kill', process: 'spark' }]])
})

it.each([
  ['no token', session(false), 'the address with the token'],
  ['no control', undefined, 'Nothing can be killed from here'],
  ['an experiment', session(true, 'an experiment runs'), 'Nothing may be killed now: an experiment runs'],
])('has no button with %s, and says why', async (_, answer, words) => {
  answers['/control/session'] = () => answer
  const wrapper = await view()
  expect(row(wrapper, 'spark').find('button').exists()).toBe(false)
  expect(row(wrapper, 'spark').get('code').text()).toBe('murmur chaos kill spark')
  expect(wrapper.get('[aria-labelledby=processes] [role=status]').text()).toContain(words)
})

it('says why a process was not killed', async () => {
  answers['/control/session'] = () => session(true)
  answers['/control/failures'] = () => jsonResponse({ detail: 'spark has not recovered' }, 409)
  const wrapper = await view()
  await row(wrapper, 'spark').get('button').trigger('click')
  await flushPromises()
  expect(wrapper.text()).toContain('spark was not killed: spark has not recovered')
})

it('calls unknown what the server does not tell, and raises no alarm', async () => {
  answers = {}
  const wrapper = await view()
  expect(wrapper.text()).toContain('Which processes run is unknown')
  expect(wrapper.text()).toContain('The latencies of the last minutes are unknown')
  expect(wrapper.get('[aria-labelledby=ledger] tbody td').text()).toBe('–unknown')
  expect(wrapper.get('[data-to=enriched]').text()).toContain('what waits is unknown')
  expect(wrapper.get('[data-place=enriched] .rate').text()).toBe('– tweets/s')
  expect(wrapper.find('[role=alert]').exists()).toBe(false)
})

it('tells a true zero from what is unknown', async () => {
  answers['/api/v1/pipeline'] = () => ({ ...pipeline(0), stages: [stage('published', 0, 0), stage('enriched', 0, 0)] })
  const wrapper = await view()
  expect(wrapper.get('[data-to=enriched]').text()).toContain('0 wait · 0 s')
  expect(wrapper.get('[data-place=enriched] .rate').text()).toBe('0 tweets/s')
  expect(wrapper.get('[data-place=searchable] .rate').text()).toBe('– tweets/s')
})

it('keeps what it has when one panel fails', async () => {
  const wrapper = await view()
  answers['/api/v1/processes'] = () => jsonResponse({ detail: 'Redis does not answer.' }, 503)
  await vi.advanceTimersByTimeAsync(1_000)
  await flushPromises()
  expect(wrapper.text()).toMatch(/Showing data from \d+ s ago; processes unavailable: Redis does not answer\./)
  expect(row(wrapper, 'spark').text()).toContain('219 MB')
})

it('shows the last events of a stream whose edge is clicked, as text, until it is closed', async () => {
  answers['/api/v1/streams'] = () => ({
    stream: 'tweets-rejected',
    events: [{ at: new Date().toISOString(), event: '{"reason":"future","event":"<img src=x>"}' }],
  })
  const wrapper = await view()
  const edge = wrapper.get('button.rejected')
  await edge.trigger('click')
  await flushPromises()
  const events = wrapper.get('#stream-events')
  expect(edge.attributes('aria-expanded')).toBe('true')
  expect(events.text()).toContain('future × 1')
  expect(events.get('code').text()).toContain('<img src=x>')
  await events.get('button').trigger('click')
  expect(wrapper.find('#stream-events').exists()).toBe(false)
})

it('has an equal table of the graph', async () => {
  const wrapper = await view()
  await wrapper.get('button.toggle').trigger('click')
  const cells = wrapper.findAll('#graph-table tbody tr').map((tr) => tr.findAll('th, td').map((cell) => cell.text()))
  expect(cells[1]).toEqual(['enriched', 'spark runs', '1,000', '3.8 s', '0 s', '400 ms', '600 ms', '800 ms'])
  expect(cells[4]).toEqual(['tweets-raw, for enriched', '1,000', '3,800', '3.8 s', 'behind; –'])
  expect(cells).toHaveLength(8)
})

it('marks failures on each chart that has latencies, and lists them', async () => {
  answers['/api/v1/pipeline/history'] = () => ({ every_s: 5, points: [point(20), point(15), point(10), point(5)] })
  answers['/api/v1/failures'] = () => ({ failures: [{ ...kill, back_after_s: 2 }] })
  const wrapper = await view()
  expect(wrapper.get('[data-chart=enriched] .p99').attributes('d')).toMatch(/^M.*L/)
  expect(wrapper.get('[data-chart=enriched] .mark').text()).toBe('1')
  expect(wrapper.get('[data-chart=ranked]').text()).toContain('unknown')
  expect(wrapper.get('[aria-label="Failures in this time"]').text()).toContain('back after 2 s, catching up')
})
