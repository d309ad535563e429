import { onScopeDispose, reactive, watch, type Ref } from 'vue'
import { ApiError } from '@/api/client'
import type { Panel } from '@/composables/useLive'

/**
 * Asks for `key`, and again after as many ms as `pause` says of the last answer; null: no more. The last data stay
 * until another key is chosen. Nothing is asked for an empty key, while paused, or while nobody sees the page.
 */
export function usePolled<Body>(
  key: Ref<string>,
  paused: Ref<boolean>,
  ask: (key: string, signal: AbortSignal) => Promise<Body>,
  pause: (data: Body | null) => number | null,
) {
  const panel = reactive({ data: null, receivedAt: null, problem: null }) as Panel<Body>
  let asking = new AbortController()
  let ticker: ReturnType<typeof setTimeout> | undefined

  async function look() {
    clearTimeout(ticker)
    if (!key.value) return
    const { signal } = asking
    if (!paused.value && !document.hidden) {
      try {
        const data = await ask(key.value, signal)
        if (signal.aborted) return
        Object.assign(panel, { data, receivedAt: Date.now(), problem: null })
      } catch (error) {
        if (signal.aborted) return
        panel.problem = error instanceof ApiError ? error.message : String(error)
      }
    }
    const after = pause(panel.data)
    if (after !== null) ticker = setTimeout(() => void look(), after)
  }

  function leave() {
    asking.abort()
    clearTimeout(ticker)
  }

  watch(key, () => {
    leave()
    asking = new AbortController()
    Object.assign(panel, { data: null, receivedAt: null, problem: null })
    void look()
  }, { immediate: true })
  onScopeDispose(leave)
  return { panel, look }
}
