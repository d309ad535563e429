// @vitest-environment node
import { expect, it } from 'vitest'
import { hasPassed } from '@/lib/passage'

it.each([
  [0.5, 3.5, true],
  [2, 4, false],
  [0, 2.5, false],
  [null, 60, null],
])('with a lag of %o s, %d s after it was published, a tweet has passed: %o', (lag_seconds, seconds, passed) => {
  expect(hasPassed({ lag_seconds }, 1_000_000, 1_000_000 + seconds * 1000)).toBe(passed)
})
