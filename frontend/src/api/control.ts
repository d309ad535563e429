/** What changes anything, for whoever has shown the token of this start of the instance. */

import { request, type FailureKind } from '@/api/client'

export interface Session {
  /** Whether the token has been shown. */
  open: boolean
  /** Why nothing may be done now; null: it may. */
  refused: string | null
  /** Empty unless the session is open. */
  actions: Action[]
}

/** What may be done to a process. */
export interface Action {
  kind: FailureKind
  process: string
  /** null: it may be done. */
  why_not: string | null
}

const SESSION = '/control/session'

/** Longer than any action may take at the server, which then says what is known of it. */
const TIMEOUT_MS = 130_000

let showing: Promise<unknown> = Promise.resolve()

const post = <Body>(url: string, body: object) =>
  request<Body>(url, { method: 'POST', body: JSON.stringify(body) }, TIMEOUT_MS)

/** Asks when the token that the address had was shown. */
export async function fetchSession(signal?: AbortSignal): Promise<Session> {
  await showing
  return request<Session>(SESSION, { signal })
}

/** Answers when the tweet is published. */
export const postTweet = (text: string) => post<{ id: string }>('/control/tweets', { text })

export interface ExperimentWish {
  rate_per_s: number
  seconds: number
  workload: 'realistic' | 'cached'
}

/** Answers when the experiment has begun; 409 while another one runs. */
export const postExperiment = (wish: ExperimentWish) => post<{ id: string }>('/control/experiments', wish)

/** Answers when it has begun. */
export const postFailure = (kind: FailureKind, process: string) =>
  post<unknown>('/control/failures', { kind, process })

/**
 * Exchanges a token in the fragment of the address for a cookie, and takes it out of the address at once, so that it
 * gets into no history and no picture. A token that is refused opens nothing, which the session tells later.
 */
export function showToken(): void {
  const shown = /^#token=(.+)$/.exec(location.hash)?.[1]
  if (!shown) return
  history.replaceState(null, '', location.pathname + location.search)
  const token = new URLSearchParams(`token=${shown.replaceAll('+', '%2B')}`).get('token')
  showing = post<Session>(SESSION, { token }).catch(() => undefined)
}
