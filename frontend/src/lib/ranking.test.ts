// @vitest-environment node
import { expect, it } from 'vitest'
import { changeOf, describeChange } from '@/lib/ranking'

it.each([
  [3, null, 'new'],
  [3, 3, 'unchanged'],
  [3, 4, 'up 1 place'],
  [3, 9, 'up 6 places'],
  [9, 3, 'down 6 places'],
])('rank %i after %o is %s', (rank, previous_rank, words) => {
  expect(describeChange(changeOf({ rank, previous_rank }))).toBe(words)
})
