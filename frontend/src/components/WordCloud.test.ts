import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import WordCloud from '@/components/WordCloud.vue'

enableAutoUnmount(afterEach)

/** Tells a size as soon as something is observed, which jsdom has none of. */
class Observer {
  constructor(private readonly tell: (entries: { contentRect: { width: number, height: number } }[]) => void) {}
  observe() {
    this.tell([{ contentRect: { width: 800, height: 400 } }])
  }
  disconnect() {}
}
beforeEach(() => {
  vi.stubGlobal('ResizeObserver', Observer)
  HTMLCanvasElement.prototype.getContext = () => null
})
afterEach(() => vi.unstubAllGlobals())

async function cloud(...names: string[]) {
  const hashtags = names.map((hashtag, index) =>
    ({ hashtag, count: 10 - index, share: 0.1, rank: index + 1, previous_rank: null }))
  const wrapper = mount(WordCloud, { attachTo: document.body, props: { hashtags, standing: null } })
  await wrapper.vm.$nextTick()
  return wrapper
}

it('has one word in the order of Tab, from which arrows lead to the others, around', async () => {
  const wrapper = await cloud('one', '"two"]', 'three')
  const stops = () => wrapper.findAll('.word[tabindex="0"]').map((word) => word.attributes('data-hashtag'))
  expect(stops()).toEqual(['one'])
  await wrapper.get('.word').trigger('keydown', { key: 'ArrowRight' })
  expect(stops()).toEqual(['"two"]'])
  expect((document.activeElement as SVGElement).dataset.hashtag).toBe('"two"]')
  await wrapper.findAll('.word')[1]!.trigger('keydown', { key: 'ArrowUp' })
  await wrapper.findAll('.word')[0]!.trigger('keydown', { key: 'ArrowLeft' })
  expect(stops()).toEqual(['three'])
})

it('opens a word by click, Enter and space', async () => {
  const wrapper = await cloud('one')
  const word = wrapper.get('.word')
  await word.trigger('click')
  await word.trigger('keydown', { key: 'Enter' })
  await word.trigger('keydown', { key: ' ' })
  await word.trigger('keydown', { key: 'x' })
  expect(wrapper.emitted('choose')).toEqual([['one'], ['one'], ['one']])
})
