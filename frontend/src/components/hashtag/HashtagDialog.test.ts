import { enableAutoUnmount, flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import HashtagDialog from '@/components/hashtag/HashtagDialog.vue'
import { jsonResponse } from '@/composables/scope.testing'

const answer = vi.fn<(url: string) => Promise<Response>>()

enableAutoUnmount(afterEach)
beforeEach(() => {
  vi.stubGlobal('fetch', answer)
  answer.mockReset()
  // jsdom has none of them.
  HTMLDialogElement.prototype.showModal = function () { this.open = true }
  HTMLDialogElement.prototype.close = function () {
    if (!this.open) return
    this.open = false
    this.dispatchEvent(new Event('close'))
  }
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const point = (tweets: number | null, of: number | null, second: number) =>
  ({ at: `2026-11-28T10:00:${String(second).padStart(2, '0')}Z`, tweets, of })
const post = (text: string) => ({
  tweet_id: '1', text, created_at: '2026-11-28T10:00:00Z', author_id: '7', lang: 'en', hashtags: [],
  source: 'synthetic', url: null,
})

const known = {
  course: { hashtag: 'x', every_s: 30, points: [point(2, 20, 0), point(null, null, 30), point(0, 20, 59)] },
  posts: { hashtag: 'x', rows: 50_000, tweets: 1, related: [{ hashtag: 'beside', tweets: 1 }], newest: [post('one')] },
}

async function dialog(hashtag: string, bodies: Partial<typeof known> = known, status = 200) {
  answer.mockImplementation(async (url) => {
    const body = url.includes('/course') ? bodies.course : bodies.posts
    return body ? jsonResponse(body, status) : jsonResponse({ detail: 'Redis does not answer.' }, 503)
  })
  const wrapper = mount(HashtagDialog, { attachTo: document.body, props: { hashtag, paused: false } })
  await flushPromises()
  return wrapper
}

it('shows the course, what stands beside, the newest tweets, and asks for another that is chosen', async () => {
  const wrapper = await dialog('x')
  expect(wrapper.get('dialog').attributes()).toHaveProperty('open')
  expect(wrapper.get('figcaption').text()).toContain('2 tweets, 5.0 % of all; most within 30 s: 2')
  expect(wrapper.get('path').attributes('d')!.match(/M/g)).toHaveLength(1)
  expect(wrapper.text()).toContain('1 of the newest 50K tweets have it.')
  expect(wrapper.get('.hit').text()).toContain('one')
  expect(wrapper.find('.similarity').exists()).toBe(false)
  await wrapper.get('.related button').trigger('click')
  expect(wrapper.emitted('choose')).toEqual([['beside']])
  await wrapper.setProps({ hashtag: 'beside' })
  await flushPromises()
  expect(answer.mock.lastCall![0]).toBe('/api/v1/hashtag/posts?hashtag=beside')
})

it.each([
  '<img src=x onerror="alert(1)">', '\u202Egnp.exe', 'a/b?c&d=e#f', 'x'.repeat(65_536),
])('shows any hashtag as text and within itself, and asks for it unchanged', async (hashtag) => {
  const wrapper = await dialog(hashtag)
  expect(wrapper.find('img').exists()).toBe(false)
  expect(wrapper.get('h2 bdi').element.textContent).toBe(`#${hashtag}`)
  expect(new URL(answer.mock.calls[0]![0], 'http://host').searchParams.get('hashtag')).toBe(hashtag)
})

it('closes by its button and by what the browser closes it with', async () => {
  const wrapper = await dialog('x')
  await wrapper.get('.close').trigger('click')
  expect(wrapper.emitted('close')).toHaveLength(1)
})

it('says what is missing, and shows the rest, where one of the stores is down', async () => {
  const wrapper = await dialog('x', { posts: known.posts })
  expect(wrapper.get('.notice').text()).toContain('course unavailable: Redis does not answer.')
  expect(wrapper.get('.hit').text()).toContain('one')
})

it('draws no empty axes in the first half minute', async () => {
  const wrapper = await dialog('x', { ...known, course: { ...known.course, points: [] } })
  expect(wrapper.find('svg').exists()).toBe(false)
  expect(wrapper.text()).toContain('Its course shows once there is half a minute of it.')
})

it('keeps up with what comes, until it is paused', async () => {
  vi.useFakeTimers()
  const wrapper = await dialog('x')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(answer).toHaveBeenCalledTimes(4)
  await wrapper.setProps({ paused: true })
  await vi.advanceTimersByTimeAsync(30_000)
  expect(answer).toHaveBeenCalledTimes(4)
})

it('tells how to search: by its meaning, or its tweets only', async () => {
  const wrapper = await dialog('x')
  for (const button of wrapper.findAll('.actions button')) await button.trigger('click')
  expect(wrapper.emitted('search')).toEqual([['x', false], ['x', true]])
})
