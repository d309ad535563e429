/** How real the tweets of each source are. */
const KINDS = new Map([
  ['bluesky', 'live'], ['wikimedia', 'live'], ['x', 'live'], ['http', 'pushed'], ['replay', 'recorded'],
  ['synthetic', 'invented'],
])

const MEANINGS = new Map([
  ['live', 'the newest tweets are what people write now'],
  ['pushed', 'the newest tweets were sent here by somebody, who alone knows how real they are'],
  ['recorded', 'the newest tweets were recorded earlier, and are replayed'],
  ['invented', 'the newest tweets were made up by a program; nobody wrote them'],
])

/** What to say of the source of the newest tweets, and what that means. */
export function describeSource(source: string | null): { text: string, meaning: string } {
  if (!source) return { text: 'no source yet', meaning: 'nothing was published yet' }
  const kind = KINDS.get(source)
  if (!kind) return { text: `source ${source}`, meaning: 'a source that this page does not know' }
  return { text: `${kind}: ${source}`, meaning: MEANINGS.get(kind)! }
}

/** The address, if a link may lead there; it comes from strangers. */
export function linkable(url: string | null): string | null {
  return url && /^https?:\/\//.test(url) ? url : null
}
