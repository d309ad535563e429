import { shallowRef, watch } from 'vue'
import type { Pipeline, StageName } from '@/api/client'
import type { Panel } from '@/composables/useLive'

/** What one stage was at `at` (ms since the epoch); null where it was unknown. */
export interface Sample {
  at: number
  rate: number | null
  lag: number | null
  p99: number | null
}

export type History = Partial<Record<StageName, Sample[]>>

export const HISTORY_MS = 5 * 60_000
const KEEP_EVERY_MS = 900
const KEY = 'murmuration.history'

/** The last five minutes of each stage; kept for the session, so that a reload does not empty the curves. */
export function useHistory(pipeline: Panel<Pipeline>, storage: Storage = sessionStorage) {
  const history = shallowRef(restore(storage))

  watch(() => pipeline.receivedAt, (at) => {
    if (at === null || !pipeline.data) return
    const last = history.value.published?.at(-1)?.at ?? 0
    if (at - last < KEEP_EVERY_MS) return
    history.value = append(history.value, pipeline.data, at)
    try {
      storage.setItem(KEY, JSON.stringify(history.value))
    } catch {
      // A full or forbidden storage costs the curves after a reload, and nothing else.
    }
  })
  return history
}

function append(history: History, { stages }: Pipeline, at: number): History {
  return Object.fromEntries(stages.map((stage) => {
    const kept = (history[stage.name] ?? []).filter((sample) => at - sample.at < HISTORY_MS)
    const sample = { at, rate: stage.rate_per_s, lag: stage.lag_seconds, p99: stage.latency_ms.p99 }
    return [stage.name, [...kept, sample]]
  }))
}

function restore(storage: Storage): History {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? '{}')
    if (typeof stored !== 'object' || stored === null) return {}
    return Object.fromEntries(
      Object.entries(stored as History).map(([name, samples]) => [
        name,
        samples.filter(({ at }) => Date.now() - at < HISTORY_MS),
      ]),
    )
  } catch {
    return {}
  }
}
