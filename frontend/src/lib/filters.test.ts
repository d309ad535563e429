import { expect, it } from 'vitest'
import { isMoment, NO_FILTERS, searchParameters } from '@/lib/filters'

const NOW = Date.parse('2026-11-28T10:00:07Z')

it('names only what narrows', () => {
  expect(searchParameters(NO_FILTERS, NOW)).toEqual({})
  expect(searchParameters({ ...NO_FILTERS, lang: 'de', hashtag: 'a&b' }, NOW)).toEqual({ lang: 'de', tag: 'a&b' })
})

it('counts a period back from now, so coarsely that a repeated search may be cached', () => {
  expect(searchParameters({ ...NO_FILTERS, period: '1h' }, NOW)).toEqual({ since: '2026-11-28T09:00:00.000Z' })
  expect(searchParameters({ ...NO_FILTERS, period: '1h' }, NOW + 2000))
    .toEqual(searchParameters({ ...NO_FILTERS, period: '1h' }, NOW))
})

it('takes moments as of the visitor\'s own clock, and only if they are asked for', () => {
  const moments = { ...NO_FILTERS, from: '2026-11-28T10:00', to: '2026-11-28T11:30' }
  expect(searchParameters(moments, NOW)).toEqual({})
  expect(searchParameters({ ...moments, period: 'between' }, NOW)).toEqual({
    since: new Date('2026-11-28T10:00').toISOString(), until: new Date('2026-11-28T11:30').toISOString(),
  })
  expect(searchParameters({ ...moments, period: 'between', from: '' }, NOW)).not.toHaveProperty('since')
})

it('tells a moment from anything else', () => {
  expect(['2026-11-28T10:00', '2026-13-28T10:00', 'now', '2026'].map(isMoment)).toEqual([true, false, false, false])
})
