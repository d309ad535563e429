import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, expect, it } from 'vitest'
import SourceNotice from '@/components/SourceNotice.vue'

enableAutoUnmount(afterEach)

const notice = (known: { source?: string, source_ended_at?: string, source_problem?: string } | null) =>
  mount(SourceNotice, {
    props: { pipeline: known && { source: null, source_ended_at: null, source_problem: null, ...known } },
  })

it('names a server that is not reached and the command for invented tweets, until the server answers', async () => {
  const wrapper = notice({ source: 'x', source_problem: 'bluesky: ws://host is not reached (refused)' })
  expect(wrapper.get('[role=status]').text()).toContain('No live tweets: bluesky: ws://host is not reached (refused).')
  expect(wrapper.get('code').text()).toBe('./murmur ingest --source synthetic')
  await wrapper.setProps({ pipeline: { source: 'bluesky', source_ended_at: null, source_problem: null } })
  expect(wrapper.find('.notice').exists()).toBe(false)
})

it('tells no source from one that has ended, and either from what is not known yet', () => {
  expect(notice(null).find('.notice').exists()).toBe(false)
  expect(notice({}).text()).toContain('There is no source yet')
  expect(notice({ source: 'replay', source_ended_at: '2026-11-21T12:00:00Z' }).text())
    .toContain('The source replay has ended.')
})

it('shows what a server says as text', () => {
  const wrapper = notice({ source_problem: '<img src=x>' })
  expect(wrapper.find('img').exists()).toBe(false)
  expect(wrapper.text()).toContain('<img src=x>')
})
