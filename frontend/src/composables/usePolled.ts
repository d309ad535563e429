import { onScopeDispose, reactive, type Ref } from 'vue'
import { ApiError } from '@/api/client'
import type { Panel } from '@/composables/useLive'

export interface Polled<Body> extends Panel<Body> {
  /** Whether the server knows no such thing: what it would tell is unknown, and nothing is wrong. */
  absent: boolean
  /** Asks now, without waiting for the next turn. */
  ask: () => Promise<void>
}

/** What `fetch` answers, asked for every `everyMs`; not while paused, nor while nobody sees the page. */
export function usePolled<Body>(
  fetch: (signal: AbortSignal) => Promise<Body>, everyMs: number, paused: Ref<boolean>,
): Polled<Body> {
  const leaving = new AbortController()
  let isAsking = false
  let notBefore = 0
  const polled = reactive({ data: null, receivedAt: null, problem: null, absent: false, ask }) as Polled<Body>

  async function ask() {
    if (isAsking) return
    isAsking = true
    try {
      const data = await fetch(leaving.signal)
      Object.assign(polled, { data, receivedAt: Date.now(), problem: null, absent: false })
    } catch (error) {
      if (leaving.signal.aborted) return
      const failure = error instanceof ApiError ? error : new ApiError(String(error))
      polled.absent = failure.status === 404
      polled.problem = polled.absent ? null : failure.message
      notBefore = Date.now() + (failure.retryAfterSeconds ?? 0) * 1000
    } finally {
      isAsking = false
    }
  }

  const tick = () => {
    if (!paused.value && !document.hidden && Date.now() >= notBefore) void ask()
  }
  tick()
  const ticker = setInterval(tick, everyMs)
  onScopeDispose(() => {
    clearInterval(ticker)
    leaving.abort()
  })
  return polled
}
