import { onScopeDispose, reactive, watch, type Ref } from 'vue'
import { ApiError, fetchCourse, fetchHashtagPosts, type Course, type HashtagPosts } from '@/api/client'
import type { Panel } from '@/composables/useLive'

const EVERY_MS = 10_000

const emptyPanel = <Body>() => reactive({ data: null, receivedAt: null, problem: null }) as Panel<Body>

/** What is known of a hashtag: its course over time, and its posts. Each is asked for by itself, and stays when the
 * other fails. Nothing is asked again while paused. */
export function useHashtag(hashtag: Ref<string>, paused: Ref<boolean>) {
  const course = emptyPanel<Course>()
  const posts = emptyPanel<HashtagPosts>()
  let asking = new AbortController()

  async function fill<Body>(panel: Panel<Body>, fetching: (hashtag: string, signal: AbortSignal) => Promise<Body>) {
    const { signal } = asking
    try {
      const data = await fetching(hashtag.value, signal)
      if (!signal.aborted) Object.assign(panel, { data, receivedAt: Date.now(), problem: null })
    } catch (error) {
      if (signal.aborted) return
      panel.problem = error instanceof ApiError ? error.message : String(error)
    }
  }

  function ask() {
    void fill(course, fetchCourse)
    void fill(posts, fetchHashtagPosts)
  }

  watch(hashtag, () => {
    asking.abort()
    asking = new AbortController()
    for (const panel of [course, posts]) Object.assign(panel, { data: null, receivedAt: null, problem: null })
    ask()
  }, { immediate: true })
  const ticker = setInterval(() => {
    if (!paused.value && !document.hidden) ask()
  }, EVERY_MS)
  onScopeDispose(() => {
    clearInterval(ticker)
    asking.abort()
  })
  return { course, posts }
}
