import { expect, it } from 'vitest'
import { isLanguage, languageChoices, languageName } from './languages'

it('takes what the API takes as a language', () => {
  expect(['en', 'und', 'zh-Hant', 'pt-BR'].every(isLanguage)).toBe(true)
  expect(['', 'e', 'e1', 'en_US', 'de ', 'abcdefgh-abcdefgh'].some(isLanguage)).toBe(false)
})

it('names a language, or leaves its code', () => {
  expect(languageName('de')).toBe('German')
  expect(languageName('xx')).toBe('xx')
  expect(languageName('abcd')).toBe('abcd')
})

it('offers the languages of the browser and the chosen one beside those it knows, each once and by name', () => {
  const before = languageChoices('', []).map(({ code }) => code)
  const choices = languageChoices('qya', ['de-AT', 'fi', 'C'])
  expect(choices.map(({ code }) => code).sort()).toEqual([...before, 'fi', 'qya'].sort())
  expect(choices.filter(({ name }) => ['Finnish', 'German', 'Turkish'].includes(name)).map(({ code }) => code))
    .toEqual(['fi', 'de', 'tr'])
})
