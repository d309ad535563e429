import type { Stage } from '@/api/client'

/**
 * Whether a stage has passed what was published at `publishedAt` (ms), by its lag as of `asOf` (ms): what it still has
 * before it is younger than that lag. Null: unknown.
 */
export function hasPassed(stage: Pick<Stage, 'lag_seconds'>, publishedAt: number, asOf: number): boolean | null {
  return stage.lag_seconds === null ? null : asOf - stage.lag_seconds * 1000 > publishedAt
}
