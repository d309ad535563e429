import { enableAutoUnmount, mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import type { Ledger } from '@/api/client'
import LedgerLine from '@/components/LedgerLine.vue'

enableAutoUnmount(afterEach)
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const ledger = (known: Partial<Ledger> = {}): Ledger => ({
  state: 'exact', as_of: null, since: null, acknowledged: 5, rejected: 0, late: 0, aged_out: 0,
  stages: [{ name: 'enriched', accounted: 5, in_flight: 0, lost: 0, twice: 0, repeated: 0 }], ...known,
})
const received = (data: Ledger | null) => ({ panel: { data, receivedAt: data && Date.now(), problem: null } })
const shown = (data: Ledger | null) => mount(LedgerLine, { props: { ...received(data), paused: false } })

it('announces a change of the state, and no figure', async () => {
  const wrapper = shown(ledger())
  const announced = () => wrapper.get('[role=status]').text()
  expect(announced()).toBe('Ledger exact')
  await wrapper.setProps(received(ledger({ acknowledged: 1_000_000 })))
  expect(wrapper.get('dd').text()).toBe('1,000,000')
  expect(announced()).toBe('Ledger exact')
  await wrapper.setProps(received(ledger({ state: 'differs' })))
  expect(announced()).toBe('Ledger differs')
})

it('becomes unknown by itself when nothing comes, keeps its figures, and announces that once', async () => {
  const wrapper = shown(ledger())
  await vi.advanceTimersByTimeAsync(20_000)
  await nextTick()
  expect(wrapper.get('.verdict').text()).toContain('ledger unknown for 20 s')
  expect(wrapper.get('[role=status]').text()).toBe('Ledger unknown')
  expect(wrapper.get('dd').text()).toBe('5')
})

it('tells a state by a mark and a word, not by its colour alone', () => {
  const verdicts = (['exact', 'differs', 'unknown', 'off'] as const).map((state) =>
    shown(ledger({ state })).get('.verdict').text())
  expect(verdicts).toEqual([
    '✓ ledger exact', '! ledger differs', '? ledger unknown', '– ledger off, an experiment runs',
  ])
})
