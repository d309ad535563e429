// @vitest-environment node
import { expect, it } from 'vitest'
import type { Ledger } from '@/api/client'
import { tellLedger } from '@/lib/ledger'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const stage = (name: Ledger['stages'][number]['name'], in_flight: number | null, lost: number | null, twice = 0) =>
  ({ name, accounted: null, in_flight, lost, twice, repeated: 0 })
const ledger: Ledger = {
  state: 'exact', as_of: '2026-11-21T12:00:00Z', since: null, acknowledged: 1_234_567, rejected: 0, late: null,
  aged_out: 2, stages: [stage('enriched', 12, 0), stage('ranked', 312, 0), stage('stored', 40, 0)],
}
const line = (known: Partial<Ledger> | null, age = 0, paused = false) => {
  const told = tellLedger(known && { ...ledger, ...known }, known && NOW - age, NOW, paused)
  return `${told.words}: ${told.figures.map(({ name, text }) => `${name} ${text}`).join(' · ')}`
}

it('is one line: in flight is what the slowest stage has before it', () => {
  expect(line({})).toBe('exact: acknowledged 1,234,567 · in flight 312 · lost 0 · twice 0')
})

it('adds what each stage has lost and repeated', () => {
  expect(line({ state: 'differs', stages: [stage('enriched', 0, 2), stage('ranked', 0, 1, 4)] }))
    .toBe('differs: acknowledged 1,234,567 · in flight 0 · lost 3 · twice 4')
})

it('never takes what is unknown for zero', () => {
  expect(line(null)).toBe('unknown: acknowledged – · in flight – · lost – · twice –')
  expect(line({ state: 'unknown', as_of: null, acknowledged: null, stages: [] }))
    .toBe('unknown: acknowledged – · in flight – · lost – · twice –')
  expect(line({ state: 'differs', stages: [stage('enriched', 0, 2), stage('ranked', null, null)] }))
    .toBe('differs: acknowledged 1,234,567 · in flight – · lost ≥ 2 · twice 0')
  expect(tellLedger(ledger, NOW, NOW, false).details).toContain('rejected 0, late –, aged out 2')
})

it('is unknown when nothing came for long, and only older while the page is paused', () => {
  expect(line({}, 7_000)).toMatch(/^exact:/)
  expect(line({}, 20_000)).toMatch(/^unknown for 20 s: acknowledged 1,234,567/)
  expect(line({}, 20_000, true)).toMatch(/^exact, 20 s ago:/)
})

it('says why it is off, and since when it is unknown', () => {
  expect(line({ state: 'off' })).toMatch(/^off, an experiment runs:/)
  expect(line({ state: 'unknown' })).toMatch(/^unknown: /)
  expect(line({ state: 'unknown', as_of: '2026-11-21T11:00:00Z' })).toMatch(/^unknown since 21 Nov 2026/)
})
