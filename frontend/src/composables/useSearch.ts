import { onScopeDispose, ref, shallowRef, watch, type Ref } from 'vue'
import { ApiError, fetchSearch, MAX_QUERY, type SearchResult } from '@/api/client'
import { searchParameters, type Filters } from '@/lib/filters'

export type SearchState = 'idle' | 'searching' | 'done' | 'failed'

/** Posts may be deleted where they were written: those that are shown are asked for again. */
const REFRESH_MS = 30_000

/** Semantic search for `query`, narrowed by filters. The last result stays while the next is on its way, and when that
 * fails. */
export function useSearch(query: Ref<string>, filters: Ref<Filters>) {
  const state = ref<SearchState>('idle')
  const result = shallowRef<SearchResult | null>(null)
  const problem = ref<string | null>(null)
  /** Seconds until the search is tried again; null: it is not. */
  const retryIn = ref<number | null>(null)

  let asking = new AbortController()
  let countdown: ReturnType<typeof setInterval> | undefined

  function cancel() {
    asking.abort()
    clearInterval(countdown)
    retryIn.value = null
  }

  async function search() {
    cancel()
    const q = query.value.trim().slice(0, MAX_QUERY)
    if (!q) {
      state.value = 'idle'
      result.value = problem.value = null
      return
    }
    const { signal } = (asking = new AbortController())
    state.value = 'searching'
    try {
      result.value = await fetchSearch(q, searchParameters(filters.value, Date.now()), signal)
      problem.value = null
      state.value = 'done'
    } catch (error) {
      if (signal.aborted) return
      problem.value = error instanceof Error ? error.message : String(error)
      state.value = 'failed'
      if (error instanceof ApiError && error.retryAfterSeconds !== null) retryAfter(error.retryAfterSeconds)
    }
  }

  function retryAfter(seconds: number) {
    retryIn.value = Math.max(1, Math.ceil(seconds))
    countdown = setInterval(() => {
      retryIn.value = (retryIn.value ?? 1) - 1
      if (retryIn.value <= 0) void search()
    }, 1000)
  }

  async function refresh() {
    if (state.value !== 'done' || !result.value?.hits.some((hit) => hit.url)) return
    const { signal } = asking
    try {
      const newer = await fetchSearch(result.value.query, searchParameters(filters.value, Date.now()), signal)
      if (!signal.aborted) result.value = newer
    } catch {
      // What is shown stays; the next time may do.
    }
  }

  watch([query, filters], search, { immediate: true })
  const refreshing = setInterval(() => void refresh(), REFRESH_MS)
  onScopeDispose(() => {
    cancel()
    clearInterval(refreshing)
  })
  return { state, result, problem, retryIn, search }
}
