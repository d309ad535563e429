/** Numbers and times for people. Unknown is an en dash, and never 0. */

export const UNKNOWN = '–'

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

export function formatCount(value: number | null): string {
  if (value === null) return UNKNOWN
  return value < 10_000 ? whole.format(value) : compact.format(value)
}

/** Events per second; a rate between 0 and 10 keeps a decimal, so that it is not taken for 0. */
export function formatRate(value: number | null): string {
  if (value === null) return UNKNOWN
  if (value > 0 && value < 10) return value < 0.1 ? '<0.1' : String(Number(value.toFixed(1)))
  return formatCount(value)
}

export function formatSeconds(seconds: number | null): string {
  if (seconds === null) return UNKNOWN
  if (seconds === 0) return '0 s'
  if (seconds < 0.1) return '<0.1 s'
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`
  return formatDuration(seconds)
}

export function formatMilliseconds(milliseconds: number | null): string {
  if (milliseconds === null) return UNKNOWN
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : formatSeconds(milliseconds / 1000)
}

/** In MB or GB of a thousand. */
export function formatBytes(bytes: number | null): string {
  if (bytes === null) return UNKNOWN
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}

/** Share of a whole, 0 to 1, in percent. */
export function formatShare(share: number): string {
  const percent = share * 100
  if (percent > 0 && percent < 0.1) return '<0.1 %'
  return `${percent.toFixed(percent < 10 ? 1 : 0)} %`
}

/** Two units at most: "45 s", "3 min", "2 h 5 min", "4 d". */
export function formatDuration(seconds: number): string {
  const s = Math.max(0, Math.round(seconds))
  if (s < 60) return `${s} s`
  if (s < 3600) return `${Math.floor(s / 60)} min`
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`
  return `${Math.floor(s / 86_400)} d`
}

/** How long ago `time` (ms) was, seen from `now` (ms). */
export function formatAgo(time: number, now: number): string {
  if (Number.isNaN(time)) return 'at an unknown time'
  const seconds = (now - time) / 1000
  if (seconds < 0 && seconds > -5) return 'just now'
  if (seconds < 0) return `in ${formatDuration(-seconds)}`
  return seconds < 5 ? 'just now' : `${formatDuration(seconds)} ago`
}

export function formatExact(time: number): string {
  return Number.isNaN(time) ? 'unknown time' : exact.format(time)
}

/** Of the day: "10:05". */
export function formatTime(time: number): string {
  return clock.format(time)
}
