import { beforeEach, expect, it } from 'vitest'
import { inScope } from '@/composables/scope.testing'
import { useRoute } from '@/composables/useRoute'

beforeEach(() => history.replaceState(null, '', '/'))

it('names the view by the first part of the address', () => {
  const named = (path: string) => {
    history.replaceState(null, '', path)
    return inScope(useRoute).view.value
  }
  expect(named('/')).toBe('/')
  expect(named('/pipeline?window=1m')).toBe('/pipeline')
  expect(named('/experiments/2026')).toBe('/experiments')
  expect(named('/elsewhere')).toBeNull()
  expect(named('/toString')).toBeNull()
})

it('goes to another view, and follows the way back', () => {
  const { view, go } = inScope(useRoute)
  go('/tweet')
  expect(location.pathname).toBe('/tweet')
  expect(view.value).toBe('/tweet')
  history.replaceState(null, '', '/pipeline')
  dispatchEvent(new PopStateEvent('popstate'))
  expect(view.value).toBe('/pipeline')
})
