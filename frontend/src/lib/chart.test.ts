// @vitest-environment node
import { expect, it } from 'vitest'
import { linePath, roundTop, xOf } from '@/lib/chart'

const frame = { from: 1_000, to: 2_000, top: 10 }

it('draws a line through what is known, and leaves what is unknown open', () => {
  expect(linePath([[1_000, 0], [1_500, 5], [1_600, null], [1_700, 10]], frame, 1_000))
    .toBe('M0.00 100.00h0.4L50.00 50.00M70.00 0.00h0.4')
})

it('leaves a silence open', () => {
  expect(linePath([[1_000, 5], [1_100, 5], [1_900, 5]], frame, 200).match(/M/g)).toHaveLength(2)
})

it('has a round scale that nothing exceeds', () => {
  expect([0, 0.7, 1, 43, 1_010, 5_001].map(roundTop)).toEqual([1, 1, 1, 50, 2_000, 10_000])
})

it('places a time', () => expect(xOf(1_250, frame)).toBe(25))
