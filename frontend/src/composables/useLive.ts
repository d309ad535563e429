import { onScopeDispose, reactive, ref, watch, type Ref } from 'vue'
import {
  ApiError, eventsUrl, fetchLedger, fetchPipeline, fetchTrending, type Ledger, type Pipeline, type Ranking, type Window,
} from '@/api/client'

/** Data of one panel: the last that came stays, with its time, whatever went wrong since. */
export interface Panel<Body> {
  data: Body | null
  /** When `data` came, ms since the epoch. */
  receivedAt: number | null
  /** Why there is nothing newer; null: all is well. */
  problem: string | null
}

export type Connection = 'connecting' | 'streaming' | 'polling' | 'offline'

const POLL_MS = 2_000
/** The stream repeats itself every 5 s, so whatever is older than this is asked for. */
const SILENCE_MS = 8_000
const REOPEN_MS = 10_000

const emptyPanel = <Body>(): Panel<Body> => ({ data: null, receivedAt: null, problem: null })

/**
 * Ranking, pipeline and ledger, kept fresh by Server-Sent Events; by polling while there is no stream. A stream that
 * is silent or tells of a problem is asked about by plain requests, because their errors name the panel at fault.
 */
export function useLive(window: Ref<Window>) {
  const trending = reactive(emptyPanel<Ranking>()) as Panel<Ranking>
  const pipeline = reactive(emptyPanel<Pipeline>()) as Panel<Pipeline>
  const ledger = reactive(emptyPanel<Ledger>()) as Panel<Ledger>
  const panels = { trending, pipeline, ledger }
  type Name = keyof typeof panels
  const NAMES = Object.keys(panels) as Name[]
  const connection = ref<Connection>('connecting')
  const paused = ref(false)

  let source: EventSource | null = null
  let ticker: ReturnType<typeof setInterval> | undefined
  let reopening: ReturnType<typeof setTimeout> | undefined
  let asking = new AbortController()
  const notBefore = { trending: 0, pipeline: 0, ledger: 0 }

  function receive<Body>(panel: Panel<Body>, body: Body) {
    Object.assign(panel, { data: body, receivedAt: Date.now(), problem: null })
  }

  function receiveRanking(body: Ranking) {
    if (body.window === window.value) receive(trending, body)
  }

  const fetches: Record<Name, (signal: AbortSignal) => Promise<void>> = {
    trending: async (signal) => receiveRanking(await fetchTrending(window.value, signal)),
    pipeline: async (signal) => receive(pipeline, await fetchPipeline(signal)),
    ledger: async (signal) => receive(ledger, await fetchLedger(signal)),
  }

  async function ask(name: Name) {
    if (Date.now() < notBefore[name]) return
    notBefore[name] = Date.now() + POLL_MS / 2
    const { signal } = asking
    try {
      await fetches[name](signal)
      if (connection.value !== 'streaming') connection.value = 'polling'
    } catch (error) {
      if (signal.aborted) return
      const failure = error instanceof ApiError ? error : new ApiError(String(error))
      panels[name].problem = failure.message
      notBefore[name] = Date.now() + (failure.retryAfterSeconds ?? 0) * 1000
      if (failure.status === 0 && connection.value !== 'streaming') connection.value = 'offline'
    }
  }

  const askAll = () => NAMES.forEach((name) => void ask(name))

  function tick() {
    if (connection.value !== 'streaming') return askAll()
    const silent = (panel: Panel<unknown>) => panel.problem || Date.now() - (panel.receivedAt ?? 0) > SILENCE_MS
    NAMES.filter((name) => silent(panels[name])).forEach((name) => void ask(name))
  }

  /** A browser opens few connections to one server: a tab that nobody sees takes none, and polls. */
  function openStream() {
    if (document.hidden) return void (connection.value = 'connecting')
    source = new EventSource(eventsUrl(window.value))
    source.addEventListener('open', () => (connection.value = 'streaming'))
    source.addEventListener('trending', (event) => receiveRanking(JSON.parse(event.data) as Ranking))
    source.addEventListener('pipeline', (event) => receive(pipeline, JSON.parse(event.data) as Pipeline))
    source.addEventListener('ledger', (event) => receive(ledger, JSON.parse(event.data) as Ledger))
    source.addEventListener('problem', () => askAll())
    source.addEventListener('error', () => {
      closeStream()
      if (connection.value === 'streaming') connection.value = 'connecting'
      askAll()
      reopening = setTimeout(openStream, REOPEN_MS)
    })
  }

  function closeStream() {
    clearTimeout(reopening)
    source?.close()
    source = null
  }

  function start() {
    connection.value = 'connecting'
    asking = new AbortController()
    Object.assign(notBefore, { trending: 0, pipeline: 0, ledger: 0 })
    openStream()
    ticker = setInterval(tick, POLL_MS)
  }

  function stop() {
    clearInterval(ticker)
    closeStream()
    asking.abort()
  }

  function setPaused(value: boolean) {
    if (value === paused.value) return
    paused.value = value
    if (value) stop()
    else start()
  }

  function onVisibility() {
    if (paused.value) return
    closeStream()
    openStream()
  }

  // The former window's ranking stays in sight, named as such, until the first of the new one comes.
  watch(window, () => {
    stop()
    if (paused.value) paused.value = false
    start()
  })
  start()
  document.addEventListener('visibilitychange', onVisibility)
  onScopeDispose(() => {
    document.removeEventListener('visibilitychange', onVisibility)
    stop()
  })
  return { trending, pipeline, ledger, connection, paused, setPaused }
}
