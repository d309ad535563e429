import { computed, effectScope, onScopeDispose, reactive, shallowRef, watch, watchEffect, type Ref } from 'vue'
import { fetchExperiment, type ExperimentDetail, type StageName } from '@/api/client'
import type { Panel } from '@/composables/useLive'
import { usePolled } from '@/composables/usePolled'

/** What waits for each stage, by [time since the interval began in ms, tweets]. */
export type Waiting = Partial<Record<StageName, (readonly [number, number])[]>>

const LIVE_MS = 1_000

/** One experiment in detail, and what waits for each stage; while it runs, both go on. Empty id: none. */
export function useExperiment(id: Ref<string>, paused: Ref<boolean>) {
  const waiting = shallowRef<Waiting>({})
  const panel = reactive({ data: null, receivedAt: null, problem: null }) as Panel<ExperimentDetail>
  const rests = computed(() => paused.value || (panel.data !== null && panel.data.verdict !== 'running'))
  let asking = effectScope(true)
  watch(id, (chosen) => {
    asking.stop()
    Object.assign(panel, { data: null, receivedAt: null, problem: null })
    if (!chosen) return
    asking = effectScope(true)
    asking.run(() => {
      const polled = usePolled((signal) => fetchExperiment(chosen, signal), LIVE_MS, rests)
      watchEffect(() => {
        const { data, receivedAt, problem, absent } = polled
        Object.assign(panel, { data, receivedAt, problem: absent ? 'there is none of this name' : problem })
      }, { flush: 'sync' })
    })
  }, { immediate: true })
  onScopeDispose(() => asking.stop())

  watch(() => panel.data, (data, before) => {
    const isTheSame = data !== null && before?.id === data.id && data.verdict === 'running'
    waiting.value = data ? goneOn(isTheSame ? waiting.value : {}, data) : {}
  })
  return { panel, waiting }
}

/** One that runs tells its newest sample alone. */
function goneOn(before: Waiting, { backlog_at, backlog }: ExperimentDetail): Waiting {
  return Object.fromEntries(backlog.map(({ name, events }) => {
    const known = before[name] ?? []
    const last = known.at(-1)?.[0] ?? -Infinity
    const come = backlog_at.map((at, n) => [at * 1000, events[n]!] as const).filter(([at]) => at > last)
    return [name, [...known, ...come]]
  }))
}
