/** Failures by a click, of an instance that is fed. Needs MURMUR_TOKEN, which opens its controls. */

import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { Failure, Ledger, Pipeline, Processes } from '../../frontend/src/api/client.ts'
import { FLOW_MS, useBrowser } from './page.ts'

const open = useBrowser()
const RECOVERY_MS = 200_000
const LEAST_SHIFT = 0.02

/** What moves without having been asked to, since the page was opened. */
async function watchShifts(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const told = window as unknown as { shifted: number }
    told.shifted = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { hadRecentInput: boolean; value: number })[]) {
        if (!entry.hadRecentInput) told.shifted += entry.value
      }
    }).observe({ type: 'layout-shift', buffered: true })
  })
  return () => page.evaluate(() => (window as unknown as { shifted: number }).shifted)
}

async function ask<Body>(page: Page, path: string): Promise<Body> {
  return (await page.request.get(`/api/v1/${path}`)).json() as Promise<Body>
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const openControls = (path: string) => open(`${path}#token=${process.env.MURMUR_TOKEN}`)
const newest = async (page: Page) => (await ask<{ failures: Failure[] }>(page, 'failures')).failures[0]

async function pidOf(page: Page, name: string): Promise<number> {
  const { processes } = await ask<Processes>(page, 'processes')
  return processes.find((each) => each.name === name)!.pid!
}

async function awaitExact(page: Page) {
  await expect.poll(async () => {
    const ledger = await ask<Ledger>(page, 'ledger')
    return [ledger.state, ...ledger.stages.flatMap(({ lost, twice }) => [lost, twice])]
  }, { timeout: 90_000, interval: 1_000 }).toEqual(['exact', ...Array<number>(8).fill(0)])
}

it('kills a process by its button, shows its recovery, and nothing is lost', async () => {
  const page = await openControls('/pipeline')
  const row = page.locator('[data-process=search]')
  await row.getByRole('button').waitFor({ timeout: FLOW_MS })
  const shifts = await watchShifts(page)
  const pid = await pidOf(page, 'search')
  expect(runs(pid)).toBe(true)
  await row.getByRole('button').click()
  await expect.poll(() => runs(pid), { timeout: 10_000 }).toBe(false)
  await page.locator('.headline', { hasText: 'search was killed' }).waitFor({ timeout: FLOW_MS })
  await row.getByText(/back after .* caught up after/).waitFor({ timeout: RECOVERY_MS })

  const failure = (await newest(page))!
  const told = (await row.locator('.recovery').textContent())!.match(/[\d.]+(?= s)/g)!.map(Number)
  expect(told).toEqual([failure.back_after_s, failure.caught_up_after_s])
  const { processes } = await ask<Processes>(page, 'processes')
  const again = processes.find(({ name }) => name === 'search')!
  expect(again.pid).not.toBe(pid)
  const startedAfter = (Date.parse(again.up_since!) - Date.parse(failure.began_at)) / 1000
  expect(startedAfter).toBeGreaterThanOrEqual(-1)
  expect(startedAfter).toBeLessThanOrEqual(told[0]! + 1)
  await awaitExact(page)
  expect(await shifts()).toBeLessThanOrEqual(LEAST_SHIFT)
}, RECOVERY_MS + 120_000)

it('calls the stage that is paused the one that limits', async () => {
  const page = await openControls('/pipeline')
  await page.locator('[data-process=search] button').waitFor({ timeout: FLOW_MS })
  const answer = await page.request.post('/control/failures', {
    data: { kind: 'pause', process: 'search', seconds: 25 }, headers: { Origin: new URL(page.url()).origin },
  })
  expect(answer.status()).toBe(202)
  await page.locator('[data-place=searchable] .limits', { hasText: 'limits for' }).waitFor({ timeout: FLOW_MS })
  expect((await ask<Pipeline>(page, 'pipeline')).limiting?.stage).toBe('searchable')
  await page.locator('.headline', { hasText: /search was paused .* caught up/ }).waitFor({ timeout: RECOVERY_MS })
  await awaitExact(page)
}, RECOVERY_MS + 120_000)

it.each(['web-0', 'redis'])('keeps its data while %s is killed, and goes on', async (name) => {
  const page = await openControls('/pipeline')
  await page.locator(`[data-process=${name}] button`).waitFor({ timeout: FLOW_MS })
  const pid = await pidOf(page, name)
  await page.locator(`[data-process=${name}] button`).click()
  await expect.poll(() => runs(pid), { timeout: 10_000 }).toBe(false)
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  await page.locator('.ranking .name').first().waitFor({ timeout: FLOW_MS })
  await page.locator('[data-state=streaming]').waitFor({ timeout: 60_000 })
  await awaitExact(page)
}, 200_000)

it('sees one typed tweet pass every stage, whatever is in it', async () => {
  const page = await openControls('/tweet')
  const field = page.getByRole('textbox')
  await expect.poll(() => field.isEnabled(), { timeout: FLOW_MS }).toBe(true)
  await field.fill('<b onclick="alert(1)">bold</b> \u202eevil\u202c שלום and gulls over the harbour #murmuration')
  await page.getByRole('button', { name: 'Publish' }).click()
  await page.locator('[data-state=passed]').nth(3).waitFor({ timeout: 60_000 })
  expect(await page.locator('b').count()).toBe(0)
}, 120_000)
