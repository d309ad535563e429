/** Answers of the API that are always the same, for tests of how the page shows them. */

import type { Page } from 'playwright-core'
import type {
  Course, Experiment, ExperimentDetail, Failures, HashtagPosts, Hit, Ledger, Pipeline, PipelineHistory, Post, Processes,
  Ranking, SearchResult,
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

const history: PipelineHistory = {
  every_s: 5,
  points: Array.from({ length: 60 }, (_, index) => ({
    at: ago(5 * (60 - index)),
    stages: pipeline.stages.map(({ name, rate_per_s, lag_events, lag_seconds, latency_ms }) => ({
      name, rate_per_s, lag_events, lag_seconds,
      latency_ms: index === 7 ? { p50: null, p95: null, p99: null } : latency_ms,
    })),
  })),
}

const failures: Failures = {
  failures: [
    { process: 'spark', kind: 'kill', began_at: ago(90), ended_at: null, back_after_s: 2.1, caught_up_after_s: 6.4 },
    {
      process: 'redis', kind: 'pause', began_at: ago(2), ended_at: ago(-8), back_after_s: null, caught_up_after_s: null,
    },
  ],
}

const NAMES_OF_PROCESSES = ['ingest-http', 'kafka', 'nginx', 'redis', 'search', 'spark', 'trending', 'web-0']
const processes: Processes = {
  as_of: NOW,
  processes: NAMES_OF_PROCESSES.map((name, index) => ({
    name, state: index === 3 ? 'paused' : 'running', pid: 100 + index, up_since: ago(4000 * (index + 1)),
    restarts: index % 2, cpu_share: index / 10, memory_bytes: 3e8 / (index + 1),
  })),
}

const experiment = (id: string, verdict: Experiment['verdict'], rate_per_s: number): ExperimentDetail => ({
  id, verdict, rate_per_s, seconds: 60, workload: 'realistic', middleware: id === 'one' ? 'kafka' : 'pravega',
  durability: 'fsync', commit: 'abc1234', machine: 'AMD EPYC, 2 cores', began_at: ago(rate_per_s),
  limited_by: verdict === 'fail' ? 'ranked' : null, reason: verdict === 'fail' ? 'the backlog grows' : null,
  latency_ms: (['ranked', 'searchable'] as const).map((name) => ({ name, p50: 400, p95: 900, p99: rate_per_s })),
  backlog: [{ name: 'ranked', events: [3, 5, 4] }], backlog_at: [0, 1, 2], command: './murmur load run --rate 1000',
  conditions: [{ name: 'latency', holds: verdict === 'pass', figure: 'p99 to ranked 1,200 ms' }],
  cpu_seconds_per_1000: { spark: 0.3, search: 0.1 }, idle_cpu: 0.2, phase: null, reference_ms: 30, tweets: 60_000,
  settings: [{ name: 'middleware', value: id === 'one' ? 'kafka' : 'pravega' }, { name: 'partitions', value: '1' }],
})
const details = [experiment('one', 'pass', 1000), experiment('two', 'fail', 3000), experiment('three', 'broken', 500)]

const ANSWERS: Record<string, unknown> = {
  '/api/v1/trending': ranking, '/api/v1/pipeline': pipeline, '/api/v1/ledger': ledger, '/api/v1/search': search,
  '/api/v1/hashtag/course': course, '/api/v1/hashtag/posts': hashtagPosts,
  '/api/v1/pipeline/history': history, '/api/v1/failures': failures, '/api/v1/processes': processes,
  '/api/v1/experiments': { experiments: details },
  ...Object.fromEntries(details.map((each) => [`/api/v1/experiments/${each.id}`, each])),
  '/control/session': {
    open: true, refused: null,
    actions: NAMES_OF_PROCESSES.map((process) => (
      { kind: 'kill', process, why_not: process === 'nginx' ? 'no' : null })),
  },
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
