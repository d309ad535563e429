import { beforeEach, expect, it } from 'vitest'
import { inScope } from '@/composables/scope.testing'
import { useQueryParameter } from '@/composables/useQueryParameter'
import { isLanguage } from '@/lib/languages'

const lang = () => inScope(() => useQueryParameter('lang', '', isLanguage))

beforeEach(() => history.replaceState(null, '', '/?q=birds'))

it('keeps a value in the URL, from where a reload takes it, and the default leaves no trace', () => {
  const value = lang()
  value.value = 'de'
  expect(location.search).toBe('?q=birds&lang=de')
  expect(lang().value).toBe('de')
  value.value = ''
  expect(location.search).toBe('?q=birds')
})

it('follows the way back', () => {
  const value = lang()
  value.value = 'de'
  history.replaceState(null, '', '/?q=birds&lang=fr')
  dispatchEvent(new PopStateEvent('popstate'))
  expect(value.value).toBe('fr')
})

it('falls back where the URL says what cannot be', () => {
  history.replaceState(null, '', '/?lang=%27')
  expect(lang().value).toBe('')
})
