import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { fetchSession, showToken } from '@/api/control'
import { jsonResponse } from '@/composables/scope.testing'

const asked = vi.fn<(url: string, init: RequestInit) => Promise<Response>>()
beforeEach(() => {
  vi.stubGlobal('fetch', asked)
  asked.mockReset().mockImplementation(async () => jsonResponse({ open: true, refused: null }))
})
afterEach(() => void vi.unstubAllGlobals())

it('exchanges the token once, and takes it out of the address before anything is answered', async () => {
  history.replaceState(null, '', '/pipeline?window=1m#token=a%2Bb')
  showToken()
  expect(location.pathname + location.search + location.hash).toBe('/pipeline?window=1m')
  showToken()
  expect(asked).toHaveBeenCalledTimes(1)
  const [url, init] = asked.mock.calls[0]!
  expect(url).toBe('/control/session')
  expect([init.method, init.body]).toEqual(['POST', '{"token":"a+b"}'])
})

it('goes on with a token that is refused, and leaves other fragments alone', async () => {
  asked.mockImplementation(async () => jsonResponse({ detail: 'no' }, 401))
  history.replaceState(null, '', '/#token=old')
  showToken()
  history.replaceState(null, '', '/#search')
  showToken()
  expect(location.hash).toBe('#search')
  expect(asked).toHaveBeenCalledTimes(1)
})

it('asks for the session when the token was shown', async () => {
  let answer: (response: Response) => void = () => undefined
  asked.mockImplementationOnce(() => new Promise((resolve) => (answer = resolve)))
  history.replaceState(null, '', '/#token=a')
  showToken()
  const session = fetchSession()
  await Promise.resolve()
  expect(asked).toHaveBeenCalledTimes(1)
  answer(jsonResponse({ open: true, refused: null }))
  expect((await session).open).toBe(true)
})

it('takes a token that is no part of an address for one that is refused', () => {
  history.replaceState(null, '', '/#token=%')
  showToken()
  expect(location.hash).toBe('')
})
