import type { RankedHashtag } from '@/api/client'

export type Change = { kind: 'new' } | { kind: 'same' } | { kind: 'up' | 'down'; places: number }

/** How a hashtag moved since its previous rank. */
export function changeOf({ rank, previous_rank }: Pick<RankedHashtag, 'rank' | 'previous_rank'>): Change {
  if (previous_rank === null) return { kind: 'new' }
  if (previous_rank === rank) return { kind: 'same' }
  return { kind: previous_rank > rank ? 'up' : 'down', places: Math.abs(previous_rank - rank) }
}

/** The change in words, for those who do not see the arrow. */
export function describeChange(change: Change): string {
  if (change.kind === 'new') return 'new'
  if (change.kind === 'same') return 'unchanged'
  return `${change.kind} ${change.places} ${change.places === 1 ? 'place' : 'places'}`
}
