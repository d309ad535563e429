import type { StreamEvents } from '@/api/client'

/** How many events of a sample of *tweets-rejected* were rejected for which reason, most first. */
export function reasonsOf(events: StreamEvents['events']): { reason: string; events: number }[] {
  const counts = new Map<string, number>()
  for (const { event } of events) {
    // It is cut, and so no JSON any more.
    const reason = /"reason"\s*:\s*"([^"\\]{1,64})"/.exec(event)?.[1] ?? 'unknown'
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  return [...counts].map(([reason, count]) => ({ reason, events: count })).sort((a, b) => b.events - a.events)
}
