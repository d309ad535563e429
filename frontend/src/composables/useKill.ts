import { ref, type Ref } from 'vue'
import { ApiError } from '@/api/client'
import { fetchSession, postFailure } from '@/api/control'
import { usePolled } from '@/composables/usePolled'

/** The token may be shown in another tab, and an experiment begin. */
const SESSION_MS = 10_000

/** Kills processes, where the session lets one. */
export function useKill(paused: Ref<boolean>, onKilled: () => void) {
  const session = usePolled(fetchSession, SESSION_MS, paused)
  /** What is being killed. */
  const underway = ref<string | null>(null)
  const problem = ref<string | null>(null)

  const canKill = (process: string) => {
    const { data } = session
    return data !== null && !session.problem && !session.absent && data.open && !data.refused
      && data.actions.some((action) => action.kind === 'kill' && action.process === process && !action.why_not)
  }

  async function kill(process: string) {
    if (underway.value) return
    underway.value = process
    problem.value = null
    try {
      await postFailure('kill', process)
    } catch (error) {
      problem.value = `${process} was not killed: ${error instanceof ApiError ? error.message : String(error)}`
    } finally {
      underway.value = null
      onKilled()
    }
  }
  return { session, underway, problem, canKill, kill }
}
