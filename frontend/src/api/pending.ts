/** Shapes of the API that its description does not have yet. */

import type { Pipeline, StageName } from '@/api/client'

/** Which stage limits the others, and since when. */
export interface Limiting {
  stage: StageName
  since: string
  trend: 'better' | 'worse' | 'steady'
}

/** `limiting`: null: none does; missing: it is not told. */
export type PipelineTold = Pipeline & { limiting?: Limiting | null }

export interface PipelineHistory {
  every_s: number
  points: HistoryPoint[]
}

export interface HistoryPoint {
  at: string
  stages: {
    name: StageName
    rate_per_s: number | null
    lag_events: number | null
    latency_ms: { p50: number | null; p95: number | null; p99: number | null }
  }[]
}

export type FailureKind = 'kill' | 'pause' | 'slow' | 'fill-disk' | 'flush-cache'

/** `back_after_s` and `caught_up_after_s` are seconds from the beginning, or of what lasts from its end. */
export interface Failure {
  process: string
  kind: FailureKind
  began_at: string
  ended_at: string | null
  back_after_s: number | null
  caught_up_after_s: number | null
}

/** Newest first. */
export interface Failures {
  failures: Failure[]
}
