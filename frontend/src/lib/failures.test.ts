// @vitest-environment node
import { expect, it } from 'vitest'
import type { Failure } from '@/api/client'
import { phaseOf, tellDone, tellRecovery } from '@/lib/failures'

const NOW = Date.UTC(2026, 10, 28, 12)
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString()
const failure = (known: Partial<Failure> = {}): Failure => ({
  process: 'spark', kind: 'kill', began_at: ago(10), ended_at: null, back_after_s: null, caught_up_after_s: null,
  ...known,
})

it.each<[Partial<Failure>, string, string]>([
  [{}, 'down', 'not back yet'],
  [{ back_after_s: 2.1 }, 'recovers', 'back after 2.1 s, catching up'],
  [{ back_after_s: 2.1, caught_up_after_s: 6.4 }, 'over', 'back after 2.1 s, caught up after 6.4 s'],
  [{ began_at: ago(600) }, 'over', 'when it was back is unknown'],
  [{ began_at: ago(600), back_after_s: 3 }, 'over', 'back after 3 s'],
  [{ kind: 'pause' }, 'lasts', 'this goes on'],
  [{ kind: 'pause', ended_at: ago(-5) }, 'lasts', 'this goes on'],
  [{ kind: 'pause', ended_at: ago(1) }, 'recovers', 'catching up'],
  [{ kind: 'slow', began_at: ago(600), ended_at: ago(1), caught_up_after_s: 0.8 }, 'over', 'caught up after 0.8 s'],
  [{ kind: 'flush-cache' }, 'recovers', 'catching up'],
])('%o: %s, %s', (known, phase, words) => {
  expect(phaseOf(failure(known), NOW)).toBe(phase)
  expect(tellRecovery(failure(known), NOW)).toBe(words)
})

it('says what was done and when, by whichever clock', () => {
  expect(tellDone(failure(), NOW)).toBe('spark was killed 10 s ago')
  expect(tellDone(failure({ kind: 'pause', began_at: ago(-3) }), NOW)).toBe('spark was paused just now')
})
