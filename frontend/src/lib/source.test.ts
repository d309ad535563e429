// @vitest-environment node
import { expect, it } from 'vitest'
import type { Pipeline } from '@/api/client'
import { describeSource, linkable } from '@/lib/source'

type Kind = Pipeline['source_kind']

const NOW = Date.UTC(2026, 10, 28, 12)

const told = (source: string | null, kind: Kind, endedAt: string | null = null) =>
  describeSource({ source, source_kind: kind, source_ended_at: endedAt }, NOW)

it.each<[string | null, Kind, string]>([
  ['bluesky', 'live', 'live: bluesky'], ['http', 'pushed', 'pushed: http'], ['replay', 'recorded', 'recorded: replay'],
  ['synthetic', 'invented', 'invented: synthetic'], [null, null, 'no source yet'],
  ['of-my-own', null, 'source: of-my-own'],
])('says of %s, which is %s: %s', (source, kind, text) => {
  expect(told(source, kind).text).toBe(text)
  expect(told(source, kind).meaning).not.toBe('')
})

it('does not call live what has ended, and says when it has', () => {
  const ended = new Date(NOW - 3 * 60_000).toISOString()
  expect(told('bluesky', 'live', ended).text).toBe('was live: bluesky, ended 3 min ago')
  expect(told('bluesky', 'live', ended).meaning).not.toContain('write now')
  expect(told('synthetic', 'invented', ended).text).toBe('invented: synthetic, ended 3 min ago')
  expect(told('of-my-own', null, ended).text).toBe('source: of-my-own, ended 3 min ago')
  const byAnotherClock = new Date(NOW + 60_000).toISOString()
  expect(told('synthetic', 'invented', byAnotherClock).text).toBe('invented: synthetic, ended just now')
})

it.each([
  ['https://example.org/1', true], ['http://example.org', true], ['javascript:alert(1)', false],
  ['java\nscript:alert(1)', false], [' https://example.org', false], ['data:text/html,x', false],
  ['//example.org', false], ['', false], [null, false],
])('links to %s: %s', (url, does) => {
  expect(linkable(url)).toBe(does ? url : null)
})
