/** Answers of the API that are always the same, for tests of how the page shows them. */

import type { Page } from 'playwright-core'
import type {
  Course, Hit, HashtagPosts, Ledger, Pipeline, Post, Ranking, SearchResult,
} from '../../frontend/src/api/client.ts'

const NOW = new Date().toISOString()
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()

/** What strangers write: markup, letters from right to left, none at which a line could end. */
const NAMES = ['music', 'rain', '<b>bold</b>', 'שלום', '\u202eevil', 'x'.repeat(140),
  ...Array.from({ length: 40 }, (_, index) => `tag${index}`)]

const ranking: Ranking = {
  window: '5m', as_of: NOW, tweets: 12_000,
  hashtags: NAMES.map((hashtag, index) => ({
    hashtag, count: 900 - 19 * index, share: (900 - 19 * index) / 12_000, rank: index + 1,
    previous_rank: index % 4 ? index : null,
  })),
}

const pipeline: Pipeline = {
  middleware: 'pravega', durability: 'fsync', durability_asked: true, replicas: 1, source: 'synthetic',
  source_kind: 'invented', source_ended_at: null, source_problem: null, limiting: null,
  stages: (['published', 'enriched', 'ranked', 'searchable'] as const).map((name, index) => ({
    name, rate_per_s: 1000 - index, lag_events: 900 * index, lag_seconds: 0.9 * index,
    latency_ms: { p50: 50 * (index + 1), p95: 90 * (index + 1), p99: 400 * (index + 1) },
    retention_used: index === 3 ? 0.6 : null,
  })),
}

const ledger: Ledger = {
  state: 'exact', as_of: NOW, since: ago(900), acknowledged: 123_456, rejected: 3, late: 2, aged_out: 0,
  stages: (['enriched', 'ranked', 'stored', 'indexed'] as const).map((name) => (
    { name, accounted: 123_000, in_flight: 456, lost: 0, twice: 0, repeated: 0 })),
}

const post = (index: number): Post => ({
  tweet_id: String(index), text: `${NAMES[index]} and #music <i>not italic</i> ${'long'.repeat(40)}`,
  created_at: ago(10 * index), author_id: '7', lang: 'en', hashtags: ['music'], source: 'synthetic',
  url: index ? null : 'https://example.org/post/1',
})
const posts = [0, 2, 3, 4].map(post)

const search: SearchResult = {
  query: 'music', took_ms: 12.5, cached: false, bounded: false, newest_at: ago(2),
  spent_ms: { cache: 0.9, encode: 0.4, index: 9.1, rows: 2.1 },
  hits: posts.map((each, index): Hit => ({ ...each, distance: 0.1 * index })),
}

const course: Course = {
  hashtag: 'music', every_s: 30,
  points: Array.from({ length: 60 }, (_, index) => ({
    at: ago(30 * (60 - index)), tweets: index === 7 ? null : index % 13, of: index === 7 ? null : 400,
  })),
}

const hashtagPosts: HashtagPosts = {
  hashtag: 'music', rows: 50_000, tweets: 1234, newest: posts,
  related: NAMES.slice(1, 12).map((hashtag, index) => ({ hashtag, tweets: 100 - index })),
}

const ANSWERS: Record<string, unknown> = {
  '/api/v1/trending': ranking, '/api/v1/pipeline': pipeline, '/api/v1/ledger': ledger, '/api/v1/search': search,
  '/api/v1/hashtag/course': course, '/api/v1/hashtag/posts': hashtagPosts,
  '/control/session': { open: true, refused: null },
}

/** Has all that the page asks for answered so; what is not listed is not there, the stream of events included. */
export async function answerAlike(page: Page): Promise<void> {
  await page.route(/\/(api|control)\//, (route) => {
    const body = ANSWERS[new URL(route.request().url()).pathname]
    return route.fulfill(body ? { json: body } : {
      status: 404, contentType: 'application/problem+json', body: JSON.stringify({ detail: 'There is nothing here.' }),
    })
  })
}
