/** What changes anything, for whoever has shown the token of this start of the instance. */

import { request } from '@/api/client'
import type { FailureKind } from '@/api/pending'

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

const post = <Body>(url: string, body: object) => request<Body>(url, { method: 'POST', body: JSON.stringify(body) })

export const fetchSession = (signal?: AbortSignal) => request<Session>(SESSION, { signal })

/** Answers when the tweet is published. */
export const postTweet = (text: string) => post<{ id: string }>('/control/tweets', { text })

/** Answers when it has begun. */
export const postFailure = (kind: FailureKind, process: string) =>
  post<unknown>('/control/failures', { kind, process })

/**
 * Exchanges a token in the fragment of the address for a cookie, and takes it out of the address at once, so that it
 * gets into no history and no picture. A token that is refused opens nothing, which the session tells later.
 */
export async function showToken(): Promise<void> {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1]
  if (!token) return
  history.replaceState(null, '', location.pathname + location.search)
  await post<Session>(SESSION, { token: decodeURIComponent(token) }).catch(() => undefined)
}
