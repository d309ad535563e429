// @vitest-environment node
import { describe, expect, it } from 'vitest'
import {
  formatAgo, formatBytes, formatCount, formatDuration, formatExact, formatMilliseconds, formatRate, formatSeconds,
  formatShare, UNKNOWN,
} from '@/lib/format'

describe('numbers', () => {
  it.each([
    formatBytes, formatCount, formatRate, formatSeconds, formatMilliseconds,
  ])('tell unknown from zero: %o', (format) => {
    expect(format(null)).toBe(UNKNOWN)
    expect(format(0)).toMatch(/^0/)
  })

  it('shorten large counts only', () => {
    expect(formatCount(9_999)).toBe('9,999')
    expect(formatCount(21_340)).toBe('21.3K')
  })

  it('tell memory in two units', () => {
    expect([formatBytes(219e6), formatBytes(2.14e9)]).toEqual(['219 MB', '2.1 GB'])
  })

  it('never show a small rate as zero', () => {
    expect(formatRate(0.04)).toBe('<0.1')
    expect(formatRate(0.4)).toBe('0.4')
    expect(formatRate(1_203.4)).toBe('1,203')
  })

  it('choose the unit of a latency', () => {
    expect(formatMilliseconds(412.4)).toBe('412 ms')
    expect(formatMilliseconds(1_730)).toBe('1.7 s')
    expect(formatSeconds(0.02)).toBe('<0.1 s')
    expect(formatSeconds(95)).toBe('1 min')
  })

  it('show shares in percent', () => {
    expect(formatShare(0.0712)).toBe('7.1 %')
    expect(formatShare(0.42)).toBe('42 %')
    expect(formatShare(0.0004)).toBe('<0.1 %')
    expect(formatShare(0)).toBe('0.0 %')
  })
})

describe('times', () => {
  const now = Date.UTC(2026, 10, 21, 12)

  it('are told relative to now', () => {
    expect(formatAgo(now - 1_000, now)).toBe('just now')
    expect(formatAgo(now - 45_000, now)).toBe('45 s ago')
    expect(formatAgo(now - 2 * 3_600_000 - 300_000, now)).toBe('2 h 5 min ago')
    expect(formatAgo(now + 120_000, now)).toBe('in 2 min')
    expect(formatDuration(3 * 86_400)).toBe('3 d')
  })

  it('may be unknown', () => {
    expect(formatAgo(NaN, now)).toBe('at an unknown time')
    expect(formatExact(Date.parse('nonsense'))).toBe('unknown time')
  })
})
