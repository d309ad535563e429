// @vitest-environment node
import { expect, it } from 'vitest'
import { describeSource, linkable } from '@/lib/source'

it.each([
  ['bluesky', 'live: bluesky'], ['wikimedia', 'live: wikimedia'], ['x', 'live: x'], ['http', 'pushed: http'],
  ['replay', 'recorded: replay'], ['synthetic', 'invented: synthetic'], [null, 'no source yet'],
  ['of-my-own', 'source of-my-own'], ['constructor', 'source constructor'],
])('says of %s: %s', (source, text) => {
  expect(describeSource(source).text).toBe(text)
  expect(describeSource(source).meaning).not.toBe('')
})

it.each([
  ['https://example.org/1', true], ['http://example.org', true], ['javascript:alert(1)', false],
  ['java\nscript:alert(1)', false], [' https://example.org', false], ['data:text/html,x', false],
  ['//example.org', false], ['', false], [null, false],
])('links to %s: %s', (url, does) => {
  expect(linkable(url)).toBe(does ? url : null)
})
