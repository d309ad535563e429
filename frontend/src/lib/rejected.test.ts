// @vitest-environment node
import { expect, it } from 'vitest'
import { reasonsOf } from '@/lib/rejected'

const event = (event: string) => ({ at: '2026-11-28T12:00:00Z', event })

it('counts reasons, also of events that were cut', () => {
  expect(reasonsOf([
    event('{"reason":"future","event":"eyJ'), event('{"bytes": 3, "reason": "not-json"}'), event('{"reason":"future"}'),
    event('{"event":"eyJ'),
  ])).toEqual([
    { reason: 'future', events: 2 }, { reason: 'not-json', events: 1 }, { reason: 'unknown', events: 1 },
  ])
})
