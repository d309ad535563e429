// @vitest-environment node
import { expect, it } from 'vitest'
import { normaliseHashtag, splitHashtags } from '@/lib/hashtags'

it.each(['', 'no hashtag', '#one#two', 'end #tag', 'موسيقى #موسيقى!', '＃鳥 と #自然', '# alone', 'a\n#b'])(
  'loses no character of %j', (text) => {
    expect(splitHashtags(text).map((part) => part.text).join('')).toBe(text)
  })

it('finds hashtags of every script, normalised', () => {
  const names = splitHashtags('#KPop ＃鳥 #München_26, #café!').flatMap(({ hashtag }) => hashtag ?? [])
  expect(names).toEqual(['kpop', '鳥', 'münchen_26', 'café'])
})

it('normalises as the server does', () => {
  expect(normaliseHashtag('#ＡＩ')).toBe('ai')
})
