import type { Stage, StageName } from '@/api/client'

export type Pressure = 'ok' | 'behind' | 'stalled' | 'unknown'

export interface StageState {
  pressure: Pressure
  /** 0 (none) to 1, for the gradient. */
  level: number
  /** Seconds that this stage adds to the lag of the stage before it; null: unknown. */
  ownLagSeconds: number | null
}

/** A stage that adds so much to the lag of the one before it does not keep up. */
export const BEHIND_SECONDS = 2
const FULL_SECONDS = 30

/** *ranked* and *searchable* both follow *enriched*. */
const PREDECESSOR: Partial<Record<StageName, StageName>> = {
  enriched: 'published',
  ranked: 'enriched',
  searchable: 'enriched',
}

/** The API measures every lag against *published*; a stage is to blame only for what it adds to its predecessor's. */
export function stateOf(stage: Stage, stages: Stage[]): StageState {
  const { lag_seconds: lag, lag_events: events, rate_per_s: rate } = stage
  if (lag === null || rate === null) return { pressure: 'unknown', level: 0, ownLagSeconds: null }
  const before = stages.find(({ name }) => name === PREDECESSOR[stage.name])
  const own = Math.max(0, lag - (before?.lag_seconds ?? 0))
  const level = Math.min(1, Math.log1p(own) / Math.log1p(FULL_SECONDS))
  if (rate === 0 && (events ?? 0) > 0 && own >= BEHIND_SECONDS) {
    return { pressure: 'stalled', level: 1, ownLagSeconds: own }
  }
  return { pressure: own >= BEHIND_SECONDS ? 'behind' : 'ok', level, ownLagSeconds: own }
}
