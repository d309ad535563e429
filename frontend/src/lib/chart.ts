/** Lines over time, in a drawing of 100 × 100 that is stretched to its place. */

/** What is drawn: times in ms, values from 0 to `top`. */
export interface Frame {
  from: number
  to: number
  top: number
}

/** A single point, or null on both sides of it, would be no line: it gets this length. */
const DOT = 0.4

export const xOf = (time: number, { from, to }: Frame) => 100 * (time - from) / (to - from)

/** Path of the points [ms, value] in the order of time; null, or nothing for longer than `gapMs`, leaves a gap. */
export function linePath(points: readonly (readonly [number, number | null])[], frame: Frame, gapMs: number): string {
  let path = ''
  let last: number | null = null
  for (const [time, value] of points) {
    if (value === null) {
      last = null
      continue
    }
    const x = xOf(time, frame).toFixed(2)
    const y = (100 - 100 * value / frame.top).toFixed(2)
    path += last === null || time - last > gapMs ? `M${x} ${y}h${DOT}` : `L${x} ${y}`
    last = time
  }
  return path
}

/** The least of 1, 2 or 5 times a power of ten that is not below `value`; 1 for 0. */
export function roundTop(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].map((factor) => factor * power).find((top) => top >= value * (1 - 1e-9))!
}
