import type { Stage } from '@/api/client'

/** How old a report may be when it comes, ms: stages report twice a second, the server tells of it each second. */
export const REPORT_MS = 2_500

/**
 * Whether a stage has passed what was published at `publishedAt` (ms), by its lag in a report that came at `asOf` (ms):
 * what it still has before it is younger than that lag. Null: unknown.
 */
export function hasPassed(stage: Pick<Stage, 'lag_seconds'>, publishedAt: number, asOf: number): boolean | null {
  return stage.lag_seconds === null ? null : asOf - REPORT_MS - stage.lag_seconds * 1000 > publishedAt
}
