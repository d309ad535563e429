import { onScopeDispose, reactive, ref, watch } from 'vue'
import { ApiError, fetchSearch, MAX_QUERY, type Pipeline, type StageName } from '@/api/client'
import { postTweet } from '@/api/control'
import type { Panel } from '@/composables/useLive'
import { hasPassed } from '@/lib/passage'

const LOOK_MS = 500
/** By how much the clocks of browser and server may differ. */
const CLOCKS_MS = 60_000

/**
 * One typed tweet on its way. That it is published and searchable is seen of the tweet itself; that it is enriched and
 * ranked follows from the lag of these stages, since no tweet of a ranking has a name.
 */
export function useTweet(pipeline: Panel<Pipeline>) {
  const text = ref('')
  const sentAt = ref<number | null>(null)
  const problem = ref<string | null>(null)
  /** When it was seen to have passed each stage, ms. */
  const passedAt = reactive<Partial<Record<StageName, number>>>({})
  const isSending = ref(false)
  let id = ''
  let isGone = false
  let looking: ReturnType<typeof setTimeout> | undefined

  async function send() {
    clearTimeout(looking)
    for (const name of Object.keys(passedAt) as StageName[]) delete passedAt[name]
    id = ''
    problem.value = null
    sentAt.value = Date.now()
    isSending.value = true
    const sent = text.value
    try {
      const published = await postTweet(sent)
      if (isGone) return
      id = published.id
      passedAt.published = Date.now()
      looking = setTimeout(() => void look(id, sent), LOOK_MS)
    } catch (error) {
      sentAt.value = null
      problem.value = notPublished(error)
    } finally {
      isSending.value = false
    }
  }

  /** Each look asks from another moment on: an answer that was cached would not have the tweet. */
  async function look(sought: string, sent: string, looks = 1) {
    const since = new Date((sentAt.value ?? 0) - CLOCKS_MS - looks)
    const found = await fetchSearch(sent.slice(0, MAX_QUERY), { since: since.toISOString() }).then(
      ({ hits }) => hits.some(({ tweet_id }) => tweet_id === sought), () => false)
    if (sought !== id) return
    if (found) passedAt.searchable = Date.now()
    else looking = setTimeout(() => void look(sought, sent, looks + 1), LOOK_MS)
  }

  watch(() => pipeline.receivedAt, (asOf) => {
    const { published } = passedAt
    if (published === undefined || asOf === null) return
    for (const stage of pipeline.data?.stages ?? []) {
      if (stage.name === 'enriched' || stage.name === 'ranked') {
        if (hasPassed(stage, published, asOf)) passedAt[stage.name] ??= asOf
      }
    }
  })
  onScopeDispose(() => {
    clearTimeout(looking)
    isGone = true
    id = ''
  })
  return { text, sentAt, passedAt, problem, isSending, send }
}

/** A refusal says that it was not; whatever else happened may have been behind the publishing. */
function notPublished(error: unknown): string {
  const reason = error instanceof ApiError ? error.message : String(error)
  const isRefused = error instanceof ApiError && error.status >= 400 && error.status < 500
  return isRefused ? `Not published: ${reason}` : `It may not have been published: ${reason}`
}
