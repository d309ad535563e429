import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, expect, it } from 'vitest'
import SourceNotice from '@/components/SourceNotice.vue'

enableAutoUnmount(afterEach)

it('names a server that is not reached and the command for invented tweets, until the server answers', async () => {
  const wrapper = mount(SourceNotice, { props: { problem: 'bluesky: ws://host is not reached (refused)' } })
  expect(wrapper.get('[role=status]').text()).toContain('No live tweets: bluesky: ws://host is not reached (refused).')
  expect(wrapper.get('code').text()).toBe('./murmur ingest --source synthetic')
  await wrapper.setProps({ problem: null })
  expect(wrapper.find('.notice').exists()).toBe(false)
})

it('shows what a server says as text', () => {
  const wrapper = mount(SourceNotice, { props: { problem: '<img src=x>' } })
  expect(wrapper.find('img').exists()).toBe(false)
  expect(wrapper.text()).toContain('<img src=x>')
})
