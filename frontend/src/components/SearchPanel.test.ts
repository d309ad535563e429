import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import SearchPanel from '@/components/SearchPanel.vue'
import { jsonResponse } from '@/composables/scope.testing'
import { NO_FILTERS, type Filters } from '@/lib/filters'

const hit = (text: string) => ({
  tweet_id: '1900000000000000001', text, created_at: '2026-11-21T12:00:00Z', author_id: '7', lang: 'en',
  hashtags: [], source: null as string | null, url: null as string | null, distance: 0.25,
})
const post = (text: string, url = 'https://example.org/post/1') => ({ ...hit(text), source: 'bluesky', url })
const answer = vi.fn<(url: string) => Promise<Response>>()

enableAutoUnmount(afterEach)
beforeEach(() => {
  vi.stubGlobal('fetch', answer)
  answer.mockReset()
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const foundHits = (...hits: ReturnType<typeof hit>[]) =>
  answer.mockImplementation(async () => jsonResponse({
    query: 'q', took_ms: 4.2, cached: true, hits, bounded: false, newest_at: null,
    spent_ms: { cache: 4.1, encode: null, index: null, rows: null },
  }))
const found = (...texts: string[]) => foundHits(...texts.map(hit))

async function panel(query: string, narrowed: Partial<Filters> = {}, lacking: number | null = null) {
  const wrapper = mount(SearchPanel, {
    attachTo: document.body,
    props: {
      query, 'onUpdate:query': (value: string) => wrapper.setProps({ query: value }),
      filters: { ...NO_FILTERS, ...narrowed },
      'onUpdate:filters': (filters: Filters) => wrapper.setProps({ filters }),
      lacking,
    },
  })
  await flushPromises()
  return wrapper
}

it('searches the query of the URL and tells how long it took', async () => {
  found('a flock of #Starlings')
  const wrapper = await panel('birds')
  expect(answer.mock.calls[0]![0]).toContain('q=birds')
  expect(wrapper.get('[role=status]').text()).toBe('1 tweet in 4.2 ms, cached')
  expect(wrapper.get('.similarity').text()).toContain('0.75')
  await wrapper.get('.hit button').trigger('click')
  expect(wrapper.props('query')).toBe('#starlings')
})

it('shows markup in a tweet as text', async () => {
  const evil = '<img src=x onerror="alert(1)"><script>alert(2)</script> #<b>x</b>'
  found(evil)
  const wrapper = await panel('x')
  expect(wrapper.find('.hit img, .hit script, .hit b').exists()).toBe(false)
  expect(wrapper.get('.hit p').element.textContent).toBe(evil)
  expect(wrapper.get('.hit p').attributes('dir')).toBe('auto')
})

it('asks only when the form is submitted, with the text trimmed', async () => {
  found()
  const wrapper = await panel('')
  await wrapper.get('input').setValue('  two words ')
  expect(answer).not.toHaveBeenCalled()
  await wrapper.get('form').trigger('submit')
  await flushPromises()
  expect(answer.mock.calls[0]![0]).toContain('q=two+words')
  expect(wrapper.text()).toContain('Nothing found for')
})

it('asks for one language once it is chosen, and for all again', async () => {
  found()
  const wrapper = await panel('birds')
  expect(answer.mock.lastCall![0]).not.toContain('lang')
  await wrapper.get('select').setValue('de')
  await flushPromises()
  expect(answer.mock.lastCall![0]).toContain('q=birds')
  expect(answer.mock.lastCall![0]).toContain('lang=de')
  expect(wrapper.get('.empty').text()).toContain('Nothing found for q in German.')
  await wrapper.get('select').setValue('')
  await flushPromises()
  expect(answer.mock.lastCall![0]).not.toContain('lang')
})

it('shows the language of the URL, be it one that is not offered otherwise', async () => {
  found()
  const wrapper = await panel('birds', { lang: 'fi' })
  expect(answer.mock.lastCall![0]).toContain('lang=fi')
  expect(wrapper.get<HTMLOptionElement>('option:checked').element.text).toBe('Finnish')
})

it('asks again for the language that is shown', async () => {
  vi.useFakeTimers()
  foundHits(post('ein Beitrag'))
  await panel('x', { lang: 'de' })
  await vi.advanceTimersByTimeAsync(30_000)
  expect(answer).toHaveBeenCalledTimes(2)
  expect(answer.mock.lastCall![0]).toContain('lang=de')
})

it('keeps the last hits when the next search fails, says why, and names the field', async () => {
  found('kept')
  const wrapper = await panel('first')
  answer.mockImplementation(async () =>
    jsonResponse({ detail: 'A parameter is wrong.', errors: [{ field: 'q', detail: 'must not be empty' }] }, 400))
  await wrapper.setProps({ query: 'second' })
  await flushPromises()
  expect(wrapper.get('[role=alert]').text()).toContain('q: must not be empty')
  expect(wrapper.get('.hit').text()).toContain('kept')
})

it('tries again after Retry-After', async () => {
  vi.useFakeTimers()
  answer.mockImplementation(async () =>
    jsonResponse({ detail: 'The index does not answer.' }, 503, { 'Retry-After': '2' }))
  const wrapper = await panel('birds')
  expect(wrapper.get('[role=alert]').text()).toContain('The index does not answer. Trying again in 2 s.')
  found('back')
  await vi.advanceTimersByTimeAsync(2_000)
  expect(wrapper.find('[role=alert]').exists()).toBe(false)
  expect(wrapper.get('.hit').text()).toContain('back')
})

it('focuses the box on "/", but leaves a slash that is typed', async () => {
  const wrapper = await panel('')
  const input = wrapper.get('input').element
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true }))
  expect(document.activeElement).toBe(input)
  const typed = new KeyboardEvent('keydown', { key: '/', bubbles: true, cancelable: true })
  input.dispatchEvent(typed)
  expect(typed.defaultPrevented).toBe(false)
})

it('shows the source of a hit, and links to the post without telling where from', async () => {
  foundHits(post('seen elsewhere'))
  const wrapper = await panel('x')
  expect(wrapper.get('.facts [title=source]').text()).toBe('bluesky')
  expect(wrapper.get('.facts a').attributes()).toMatchObject(
    { href: 'https://example.org/post/1', target: '_blank', rel: 'noopener noreferrer' })
})

it('links to nothing else than a page on the web', async () => {
  foundHits(post('evil', 'javascript:alert(1)'), { ...hit('none'), tweet_id: '2' })
  const wrapper = await panel('x')
  expect(wrapper.findAll('.hit')).toHaveLength(2)
  expect(wrapper.find('.hit a').exists()).toBe(false)
})

it('asks again by itself while posts are shown, so that deleted ones go', async () => {
  vi.useFakeTimers()
  foundHits(post('soon deleted'))
  const wrapper = await panel('x')
  found()
  await vi.advanceTimersByTimeAsync(30_000)
  expect(answer).toHaveBeenCalledTimes(2)
  expect(wrapper.find('.hit').exists()).toBe(false)
  await vi.advanceTimersByTimeAsync(90_000)
  expect(answer).toHaveBeenCalledTimes(2)
})

it('does not ask again while nothing is shown that could be deleted', async () => {
  vi.useFakeTimers()
  found('invented')
  await panel('x')
  await vi.advanceTimersByTimeAsync(120_000)
  expect(answer).toHaveBeenCalledTimes(1)
})

it('keeps what it shows, without a word, when asking again fails', async () => {
  vi.useFakeTimers()
  foundHits(post('kept'))
  const wrapper = await panel('x')
  answer.mockImplementation(async () => jsonResponse({ detail: 'The index does not answer.' }, 503))
  await vi.advanceTimersByTimeAsync(30_000)
  expect(wrapper.get('.hit').text()).toContain('kept')
  expect(wrapper.find('[role=alert]').exists()).toBe(false)
})

it('narrows by time and hashtag, keeps both, and searches without either again', async () => {
  found()
  const wrapper = await panel('birds')
  await wrapper.get('[name=period]').setValue('1h')
  await wrapper.get('input[name=hashtag]').setValue(' #Wings ')
  await flushPromises()
  const asked = new URL(answer.mock.lastCall![0], 'http://host').searchParams
  expect(asked.get('tag')).toBe('#Wings')
  expect(Date.now() - Date.parse(asked.get('since')!)).toBeGreaterThanOrEqual(3_600_000)
  expect(wrapper.get('.empty').text()).toContain('Nothing found for q with #Wings in the time that is chosen.')
  await wrapper.get('.empty button').trigger('click')
  await flushPromises()
  expect(answer.mock.lastCall![0]).not.toMatch(/tag|since/)
})

it('asks for two moments only where both are to be chosen', async () => {
  found()
  const wrapper = await panel('birds')
  expect(wrapper.find('[type=datetime-local]').exists()).toBe(false)
  await wrapper.get('[name=period]').setValue('between')
  await wrapper.get('[aria-label=Until]').setValue('2026-11-28T10:00')
  await flushPromises()
  const asked = new URL(answer.mock.lastCall![0], 'http://host').searchParams
  expect(asked.get('until')).toBe(new Date('2026-11-28T10:00').toISOString())
  expect(asked.has('since')).toBe(false)
})

it('tells where the time went, how new the index is, and that not all was compared', async () => {
  answer.mockImplementation(async () => jsonResponse({
    query: 'q', took_ms: 25, cached: false, hits: [hit('one')], bounded: true,
    newest_at: new Date(Date.now() - 90_000).toISOString(),
    spent_ms: { cache: 0.94, encode: 0.3, index: 12.4, rows: 3 },
  }))
  const wrapper = await panel('birds', { hashtag: 'wings' })
  expect(wrapper.get('.details').text()).toBe(
    'cache 0.9, encode 0.3, index 12, rows 3.0 ms · newest tweet in the index: 1 min ago · '
    + 'only the newest tweets with #wings were compared')
})

it('says that nothing may be found while the index is rebuilt, and only then', async () => {
  found()
  expect((await panel('birds', {}, 0)).find('.empty .notice').exists()).toBe(false)
  expect((await panel('birds', {}, 1200)).get('.empty .notice').text())
    .toContain('The index is being rebuilt: it lacks 1,200 of the tweets that are stored.')
})
