import type { SearchResult } from '@/api/client'

type Spent = SearchResult['spent_ms']

const PARTS: readonly (keyof Spent)[] = ['cache', 'encode', 'index', 'rows']

/** Where the time of a search went, without what was not needed: "cache 0.9, encode 0.3, index 12, rows 2.1 ms". */
export function describeSpent(spent: Spent): string {
  const parts = PARTS.flatMap((part) => {
    const ms = spent[part] ?? null
    return ms === null ? [] : [`${part} ${ms < 10 ? ms.toFixed(1) : Math.round(ms)}`]
  })
  return parts.length ? `${parts.join(', ')} ms` : ''
}
