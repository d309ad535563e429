import type { Stage, StageName } from '@/api/client'

export type Pressure = 'ok' | 'behind' | 'stalled' | 'unknown'
export type Trend = 'getting better' | 'steady' | 'getting worse'

export interface StageState {
  pressure: Pressure
  /** 0 (none) to 1, for the gradient. */
  level: number
  /** Seconds that this stage adds to the lag of the stage before it; null: unknown. */
  ownLagSeconds: number | null
}

export const BEHIND_SECONDS = 2
const FULL_SECONDS = 30
const STEADY_SECONDS_PER_SECOND = 0.02

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

/** The stage that adds most lag, if it adds enough to matter. */
export function bottleneckOf(stages: Stage[]): Stage | null {
  const added = stages
    .map((stage) => ({ stage, own: stateOf(stage, stages).ownLagSeconds ?? 0 }))
    .filter(({ own }) => own >= BEHIND_SECONDS)
    .sort((a, b) => b.own - a.own)
  return added[0]?.stage ?? null
}

/** Direction of a lag over [time in ms, seconds] points, by regression; null with too few of them. */
export function trendOf(points: (readonly [number, number])[]): Trend | null {
  if (points.length < 5) return null
  const n = points.length
  const meanTime = points.reduce((sum, [time]) => sum + time, 0) / n
  const meanLag = points.reduce((sum, [, lag]) => sum + lag, 0) / n
  let covariance = 0
  let variance = 0
  for (const [time, lag] of points) {
    covariance += (time - meanTime) * (lag - meanLag)
    variance += (time - meanTime) ** 2
  }
  if (variance === 0) return null
  const slope = (covariance / variance) * 1000
  if (Math.abs(slope) < STEADY_SECONDS_PER_SECOND) return 'steady'
  return slope < 0 ? 'getting better' : 'getting worse'
}
