import { effectScope } from 'vue'
import { onTestFinished } from 'vitest'

/** Runs a composable as a component would, and disposes of it after the test. */
export function inScope<Result>(compose: () => Result): Result {
  const scope = effectScope()
  onTestFinished(() => scope.stop())
  return scope.run(compose)!
}

export function jsonResponse(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  const type = status < 400 ? 'application/json' : 'application/problem+json'
  return new Response(JSON.stringify(body), { status, headers: { 'Content-Type': type, ...headers } })
}
