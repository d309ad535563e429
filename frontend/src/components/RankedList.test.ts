import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, expect, it } from 'vitest'
import RankedList from '@/components/RankedList.vue'

enableAutoUnmount(afterEach)

const marks = (previous: (number | null)[]) => {
  const hashtags = previous.map((previous_rank, index) =>
    ({ hashtag: `tag${index}`, count: 10 - index, share: 0.1, rank: index + 1, previous_rank }))
  return mount(RankedList, { props: { hashtags } }).findAll('.change').map((mark) => mark.attributes('data-change'))
}

it('calls nothing new while there was no ranking before', () => {
  expect(marks([null, null])).toEqual(['same', 'same'])
  expect(marks([3, null])).toEqual(['up', 'new'])
})
