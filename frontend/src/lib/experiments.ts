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
}

/** What was asked and in force, side by side: first what differs. */
export function compareSettings(left: ExperimentDetail, right: ExperimentDetail): Difference[] {
  const [of, against] = [left, right].map(({ settings }) => new Map(settings.map(({ name, value }) => [name, value])))
  const names = [...new Set([...of!.keys(), ...against!.keys()])]
  const rows = names.map((name) => {
    const [one, other] = [of!.get(name) ?? null, against!.get(name) ?? null]
    return { name, left: one, right: other, differs: one !== other }
  })
  return [...rows.filter(({ differs }) => differs), ...rows.filter(({ differs }) => !differs)]
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
  const low = Math.floor(Math.log10(Math.min(...known.map(({ p99 }) => p99))))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...known.map(({ p99 }) => p99)))))
  return {
    dots: known.map(({ experiment, rate, p99 }) => ({
      experiment, x: rate / (step * steps), y: (Math.log10(p99) - low) / (high - low),
    })),
    rates: Array.from({ length: steps + 1 }, (_, n) => ({ at: n / steps, value: n * step })),
    latencies: Array.from({ length: high - low + 1 }, (_, n) => ({ at: n / (high - low), value: 10 ** (low + n) })),
  }
}

/** 1, 2 or 5 times a power of ten, not below `least`. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least * 0.999)!
}
