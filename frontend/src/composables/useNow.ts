import { onScopeDispose, ref } from 'vue'

const now = ref(Date.now())
let users = 0
let ticker: ReturnType<typeof setInterval> | undefined

/** The time in ms, advancing every second; one clock for the whole page. */
export function useNow() {
  if (users++ === 0) {
    now.value = Date.now()
    ticker = setInterval(() => (now.value = Date.now()), 1000)
  }
  onScopeDispose(() => {
    if (--users === 0) clearInterval(ticker)
  })
  return now
}
