import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, expect, it } from 'vitest'
import ViewLinks from '@/components/ViewLinks.vue'

enableAutoUnmount(afterEach)

it('marks the current view, and none where there is none', async () => {
  const wrapper = mount(ViewLinks, { props: { view: '/pipeline', window: '5m' } })
  expect(wrapper.findAll('[aria-current=page]').map((link) => link.text())).toEqual(['Pipeline'])
  await wrapper.setProps({ view: null })
  expect(wrapper.find('[aria-current]').exists()).toBe(false)
})

it('goes to a view with the window that was chosen, and leaves other clicks to the browser', async () => {
  const wrapper = mount(ViewLinks, { props: { view: '/', window: '1h' } })
  const link = wrapper.get('a[href="/experiments?window=1h"]')
  await link.trigger('click', { ctrlKey: true })
  expect(wrapper.emitted('visit')).toBeUndefined()
  await link.trigger('click')
  expect(wrapper.emitted('visit')).toEqual([['/experiments?window=1h']])
})
