import { onScopeDispose, shallowRef, type Ref } from 'vue'
import { fetchTrending, type Ranking } from '@/api/client'

/** A mean over an hour changes little in that time. */
const EVERY_MS = 20_000

/** The ranking of the last hour, which tells what is usual; null until it has come. Nothing is asked while paused. */
export function useHour(paused: Ref<boolean>) {
  const hour = shallowRef<Ranking | null>(null)
  const leaving = new AbortController()

  async function ask() {
    if (paused.value || document.hidden) return
    try {
      hour.value = await fetchTrending('1h', leaving.signal)
    } catch {
      // The former one serves on; the panel itself says what ails the API.
    }
  }

  void ask()
  const ticker = setInterval(() => void ask(), EVERY_MS)
  onScopeDispose(() => {
    clearInterval(ticker)
    leaving.abort()
  })
  return hour
}
