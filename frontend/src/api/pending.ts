/** Shapes of the API that `npm run schema` does not make yet. */

export type Figure = number | null

/** Every acknowledged tweet, and what became of it; null: unknown. */
export interface Ledger {
  /** `differs`: something is lost or twice; `off`: an experiment runs. */
  state: 'exact' | 'differs' | 'unknown' | 'off'
  as_of: string | null
  /** Since when it counts. */
  since: string | null
  acknowledged: Figure
  /** A loss is told at the stage where it happened, and not again behind it; what is in flight is told at each. */
  stages: {
    name: 'enriched' | 'ranked' | 'stored' | 'indexed'
    accounted: Figure
    in_flight: Figure
    lost: Figure
    twice: Figure
    repeated: Figure
  }[]
  rejected: Figure
  late: Figure
  aged_out: Figure
}
