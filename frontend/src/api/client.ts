/** The HTTP API of Murmuration, as the page uses it: types of the bodies, and one function for each request. */

import { pipelineStageNameValues, rankingWindowValues, type components } from '@/api/schema'

type Schemas = components['schemas']
export type Ranking = Schemas['Ranking']
export type RankedHashtag = Schemas['Ranking.RankedHashtag']
export type Ledger = Schemas['Ledger']
export type Pipeline = Schemas['Pipeline']
export type Stage = Schemas['Pipeline.Stage']
export type Limiting = Schemas['Pipeline.Limiting']
export type PipelineHistory = Schemas['History']
export type HistoryPoint = Schemas['History.HistoryPoint']
export type Failures = Schemas['Failures']
export type Failure = Schemas['Failures.Failure']
export type FailureKind = Failure['kind']
export type Experiment = Schemas['Experiments.Experiment']
export type ExperimentDetail = Schemas['ExperimentDetail']
export type Processes = Schemas['Processes']
export type Process = Schemas['Processes.Process']
export type StreamEvents = Schemas['StreamEvents']
export type StreamName = StreamEvents['stream']
export type SearchResult = Schemas['SearchResult']
export type Hit = Schemas['SearchResult.FoundTweet']
export type Post = Schemas['HashtagPosts.Post']
export type HashtagPosts = Schemas['HashtagPosts']
export type Course = Schemas['Course']
export type CoursePoint = Schemas['Course.Point']
type Problem = Schemas['Problem']

export type StageName = Stage['name']
export const STAGES: readonly StageName[] = pipelineStageNameValues
export type Window = Ranking['window']
export const WINDOWS: readonly Window[] = rankingWindowValues

/** A request without an answer to show. `message` is for people; status 0: the server was not reached. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status = 0,
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message)
    this.name = 'ApiError'
  }
}

const BASE = '/api/v1'
const TIMEOUT_MS = 10_000
export const RANKING_LIMIT = 100
export const SEARCH_LIMIT = 20
/** Characters that a query may have. */
export const MAX_QUERY = 512

export const eventsUrl = (window: Window) => `${BASE}/events?window=${window}&limit=${RANKING_LIMIT}`

export function fetchTrending(window: Window, signal?: AbortSignal): Promise<Ranking> {
  return get<Ranking>('/trending', { window, limit: String(RANKING_LIMIT) }, signal)
}

export function fetchPipeline(signal?: AbortSignal): Promise<Pipeline> {
  return get<Pipeline>('/pipeline', {}, signal)
}

export function fetchHistory(signal?: AbortSignal): Promise<PipelineHistory> {
  return get<PipelineHistory>('/pipeline/history', {}, signal)
}

export function fetchFailures(signal?: AbortSignal): Promise<Failures> {
  return get<Failures>('/failures', {}, signal)
}

export function fetchProcesses(signal?: AbortSignal): Promise<Processes> {
  return get<Processes>('/processes', {}, signal)
}

export function fetchStream(stream: StreamName, signal?: AbortSignal): Promise<StreamEvents> {
  return get<StreamEvents>('/streams', { stream }, signal)
}

export function fetchLedger(signal?: AbortSignal): Promise<Ledger> {
  return get<Ledger>('/ledger', {}, signal)
}

export async function fetchExperiments(signal?: AbortSignal): Promise<Experiment[]> {
  return (await get<Schemas['Experiments']>('/experiments', {}, signal)).experiments
}

export function fetchExperiment(id: string, signal?: AbortSignal): Promise<ExperimentDetail> {
  return get<ExperimentDetail>(`/experiments/${encodeURIComponent(id)}`, {}, signal)
}

/** `narrowing`: other parameters of the search. */
export function fetchSearch(
  query: string, narrowing: Record<string, string>, signal?: AbortSignal,
): Promise<SearchResult> {
  return get<SearchResult>('/search', { q: query, limit: String(SEARCH_LIMIT), ...narrowing }, signal)
}

export function fetchCourse(hashtag: string, signal?: AbortSignal): Promise<Course> {
  return get<Course>('/hashtag/course', { hashtag }, signal)
}

export function fetchHashtagPosts(hashtag: string, signal?: AbortSignal): Promise<HashtagPosts> {
  return get<HashtagPosts>('/hashtag/posts', { hashtag }, signal)
}

function get<Body>(path: string, parameters: Record<string, string>, signal?: AbortSignal): Promise<Body> {
  const query = new URLSearchParams(parameters).toString()
  return request<Body>(BASE + path + (query && `?${query}`), { signal })
}

/** Raises ApiError, and what `fetch` raises where `init.signal` ends it. */
export async function request<Body>(url: string, init: RequestInit, timeoutMs = TIMEOUT_MS): Promise<Body> {
  const timeout = AbortSignal.timeout(timeoutMs)
  let response: Response
  try {
    response = await fetch(url, {
      ...init,
      headers: { Accept: 'application/json', ...(init.body ? { 'Content-Type': 'application/json' } : {}) },
      signal: init.signal ? AbortSignal.any([init.signal, timeout]) : timeout,
    })
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new ApiError(timeout.aborted ? 'the server did not answer in time' : 'the server cannot be reached')
  }
  if (!response.ok) throw await problem(response)
  try {
    return (await response.json()) as Body
  } catch {
    throw new ApiError('the server sent an answer that is not JSON', response.status)
  }
}

async function problem(response: Response): Promise<ApiError> {
  let message = `the server answered ${response.status}`
  try {
    const body = (await response.json()) as Partial<Problem>
    const fields = body.errors?.map(({ field, detail }) => `${field}: ${detail}`).join('; ')
    message = fields || body.detail || body.title || message
  } catch {
    // A proxy's own error page: the status must do.
  }
  return new ApiError(message, response.status, retryAfter(response.headers.get('Retry-After')))
}

function retryAfter(value: string | null): number | null {
  if (!value) return null
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null
}
