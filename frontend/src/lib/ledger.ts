import type { Ledger } from '@/api/client'

type Figure = number | null
import { formatDuration, formatExact, UNKNOWN } from '@/lib/format'

const exact = new Intl.NumberFormat('en')

/** The server repeats itself every 5 s: what did not come for longer than this is not known any more. */
const STALE_MS = 8_000

export interface LedgerTold {
  state: Ledger['state']
  /** The state in words, with its age where that matters. */
  words: string
  figures: { name: string; text: string }[]
  /** What else is counted. */
  details: string
}

/**
 * The ledger in one line, at `now` (ms). `receivedAt` (ms): when it came, null: never. While `paused` it grows old
 * without becoming unknown.
 */
export function tellLedger(
  ledger: Ledger | null, receivedAt: number | null, now: number, paused: boolean,
): LedgerTold {
  const age = receivedAt === null ? 0 : now - receivedAt
  const stale = age > STALE_MS
  const state = !ledger || (stale && !paused) ? 'unknown' : ledger.state
  return {
    state,
    words: wordsOf(state, lastTold(ledger, receivedAt), stale ? age : null),
    figures: [
      { name: 'acknowledged', text: format(ledger?.acknowledged ?? null) },
      { name: 'in flight', text: format(furthest(ledger?.stages.map((stage) => stage.in_flight))) },
      { name: 'lost', text: sum(ledger?.stages.map((stage) => stage.lost)) },
      { name: 'twice', text: sum(ledger?.stages.map((stage) => stage.twice)) },
    ],
    details: ledger
      ? `${ledger.since ? `counted since ${formatExact(Date.parse(ledger.since))}; ` : ''}`
        + `rejected ${format(ledger.rejected)}, late ${format(ledger.late)}, aged out ${format(ledger.aged_out)}`
      : 'no ledger has been received yet',
  }
}

/** When the server itself was last told of the ledger, ms; null: it is told of now, or never was. */
function lastTold(ledger: Ledger | null, receivedAt: number | null): number | null {
  const asOf = ledger?.as_of ? Date.parse(ledger.as_of) : null
  return asOf !== null && receivedAt !== null && receivedAt - asOf > STALE_MS ? asOf : null
}

function wordsOf(state: Ledger['state'], since: number | null, ageMs: number | null): string {
  if (state === 'off') return 'off, an experiment runs'
  if (ageMs !== null) return state === 'unknown' ? `unknown for ${formatDuration(ageMs / 1000)}`
    : `${state}, ${formatDuration(ageMs / 1000)} ago`
  return state === 'unknown' && since !== null ? `unknown since ${formatExact(since)}` : state
}

const format = (figure: Figure) => (figure === null ? UNKNOWN : exact.format(figure))

/** Each stage tells its own: they add up; with an unknown stage, to that much at least. */
function sum(figures: Figure[] = []): string {
  const known = figures.filter((figure) => figure !== null)
  const total = known.reduce((all, figure) => all + figure, 0)
  if (known.length && known.length === figures.length) return exact.format(total)
  return total ? `≥ ${exact.format(total)}` : UNKNOWN
}

/** What is in flight to one stage is so to those behind it. */
function furthest(figures: Figure[] = []): Figure {
  return figures.length && figures.every((figure) => figure !== null) ? Math.max(...figures) : null
}
