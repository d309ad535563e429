import { enableAutoUnmount, flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { jsonResponse } from '@/composables/scope.testing'
import TweetView from '@/views/TweetView.vue'

const answer = vi.fn<(url: string) => Promise<Response>>()
import { mountView } from '@/views/view.testing'

enableAutoUnmount(afterEach)
beforeEach(() => {
  vi.stubGlobal('EventSource', class extends EventTarget { close() {} })
  vi.stubGlobal('fetch', answer)
})
afterEach(() => void vi.unstubAllGlobals())

async function view(session: () => Response | Promise<Response>) {
  answer.mockImplementation(async (url) =>
    url === '/control/session' ? session() : new Promise<Response>(() => undefined))
  const wrapper = await mountView(TweetView)
  return { notice: wrapper.find('.notice'), input: wrapper.get<HTMLInputElement>('input').element, wrapper }
}

it('says without the token which address opens it, and takes no text', async () => {
  const { notice, input } = await view(() => jsonResponse({ open: false, refused: null }))
  expect(notice.text()).toContain('open the page by the address with the token, which “murmur up” prints')
  expect(input.disabled).toBe(true)
})

it('says why nothing may be typed now', async () => {
  const { notice, input } = await view(() => jsonResponse({ open: true, refused: 'An experiment runs.' }))
  expect(notice.text()).toBe('An experiment runs.')
  expect(input.disabled).toBe(true)
})

it('says that what would publish it is away, and why', async () => {
  const { notice } = await view(() => Promise.reject(new TypeError('refused')))
  expect(notice.text()).toContain('what would publish it does not answer (the server cannot be reached)')
  expect(notice.text()).toContain('./murmur status')
})

it('takes a text, and tells a lag that is not known from none, where a store is down', async () => {
  const { notice, input, wrapper } = await view(() => jsonResponse({ open: true, refused: null }))
  expect(notice.exists()).toBe(false)
  expect(input.disabled).toBe(false)
  answer.mockImplementation(async () => jsonResponse({ id: '7' }, 201))
  await wrapper.get('input').setValue('a text')
  await wrapper.get('form').trigger('submit')
  await flushPromises()
  expect(wrapper.findAll('li').map((each) => each.get('.number').text())[1]).toContain('lag unknown')
})
