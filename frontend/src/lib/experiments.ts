import type { Experiment, ExperimentDetail, StageName } from '@/api/client'

type Verdict = Experiment['verdict']

/** A verdict is told by its mark and its word; colour comes on top. */
export const MARKS: Record<Verdict, string> = {
  pass: '✓', fail: '✗', 'host-saturated': '✗', 'generator-limited': '?', broken: '?', running: '▶',
}

export function p99Of({ latency_ms }: Experiment, stage: StageName): number | null {
  return latency_ms.find(({ name }) => name === stage)?.p99 ?? null
}

export interface Difference {
  name: string
  left: string | null
  right: string | null
  differs: boolean
  /** Whether both have it: another stream store has settings of its own. */
  shared: boolean
}

/** What was asked and in force, side by side: first what both have and differs, then what only one has. */
export function compareSettings(left: ExperimentDetail, right: ExperimentDetail): Difference[] {
  const [of, against] = [left, right].map(({ settings }) => new Map(settings.map(({ name, value }) => [name, value])))
  const names = [...new Set([...of!.keys(), ...against!.keys()])]
  const rows = names.map((name) => {
    const [one, other] = [of!.get(name) ?? null, against!.get(name) ?? null]
    return { name, left: one, right: other, differs: one !== other, shared: of!.has(name) && against!.has(name) }
  })
  const order = ({ differs, shared }: Difference) => (shared ? (differs ? 0 : 2) : 1)
  return rows.sort((a, b) => order(a) - order(b))
}

export interface Dot {
  experiment: Experiment
  /** From 0, left and below, to 1. */
  x: number
  y: number
}

export interface Scatter {
  dots: Dot[]
  /** Where the axes have which label, from 0 to 1. */
  rates: { at: number; value: number }[]
  latencies: { at: number; value: number }[]
}

/** The p99 to a stage by rate; latencies on a logarithmic axis. What has none, or no rate, has no dot. */
export function scatter(experiments: Experiment[], stage: StageName): Scatter {
  const known = experiments.flatMap((experiment) => {
    const [rate, p99] = [experiment.rate_per_s, p99Of(experiment, stage)]
    return rate && p99 ? [{ experiment, rate, p99 }] : []
  })
  if (!known.length) return { dots: [], rates: [], latencies: [] }
  const step = niceStep(Math.max(...known.map(({ rate }) => rate)) / 4)
  const steps = Math.ceil(Math.max(...known.map(({ rate }) => rate)) * 1.02 / step)
  const latencies = ticksAround(known.map(({ p99 }) => p99))
  const low = Math.log10(latencies[0]!)
  const yOf = (p99: number) => (Math.log10(p99) - low) / (Math.log10(latencies.at(-1)!) - low)
  return {
    dots: known.map(({ experiment, rate, p99 }) => ({ experiment, x: rate / (step * steps), y: yOf(p99) })),
    rates: Array.from({ length: steps + 1 }, (_, n) => ({ at: n / steps, value: n * step })),
    latencies: latencies.map((value) => ({ at: yOf(value), value })),
  }
}

/** Values of a logarithmic axis, from below all to above all; of a long one only the powers of ten. */
function ticksAround(values: number[]): number[] {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const powers = Array.from({ length: 9 }, (_, n) => 10 ** n)
  const steps = most / least > 1_000 ? powers : powers.flatMap((power) => [power, 2 * power, 5 * power])
  const first = Math.max(0, steps.findLastIndex((step) => step < least))
  return steps.slice(first, steps.findIndex((step) => step > most) + 1)
}

/** 1, 2 or 5 times a power of ten, not below `least`. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least * 0.999)!
}
