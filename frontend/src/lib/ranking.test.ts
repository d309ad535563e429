// @vitest-environment node
import { expect, it } from 'vitest'
import { changeOf, describeChange, isRising } from '@/lib/ranking'

it.each([
  [3, null, 'new'],
  [3, 3, 'unchanged'],
  [3, 4, 'up 1 place'],
  [3, 9, 'up 6 places'],
  [9, 3, 'down 6 places'],
])('rank %i after %o is %s', (rank, previous_rank, words) => {
  expect(describeChange(changeOf({ rank, previous_rank }))).toBe(words)
})

it.each([
  [1, 2, false],
  [1, 3, true],
  [40, 42, false],
  [20, 42, true],
  [5, 2, false],
  [5, null, false],
])('rank %i after %o is rising: %o', (rank, previous_rank, rising) => {
  expect(isRising({ rank, previous_rank })).toBe(rising)
})
