/** The pipeline as a graph. Needs an instance up and fed: `./murmur ingest --source synthetic`. */

import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { FLOW_MS, useBrowser } from './page.ts'

const open = useBrowser()
const WATCHED_MS = 8_000
const MOST_SHIFT = 0.02

async function waitForFlow(page: Page) {
  const rate = page.locator('[data-place=searchable] .rate strong')
  await expect.poll(() => rate.textContent(), { timeout: FLOW_MS }).toMatch(/^[1-9<]/)
}

it.each([[1440, 900], [390, 844]])('says at %i × %i what flows and waits, and stands still', async (width, height) => {
  const page = await open('/', { viewport: { width, height } })
  await page.addInitScript(() => {
    const shifts: number[] = []
    Object.assign(window, { shifts })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.push((entry as PerformanceEntry & { value: number }).value)
    }).observe({ type: 'layout-shift', buffered: true })
  })
  await page.goto('/pipeline')
  await waitForFlow(page)
  for (const place of ['enriched', 'counted', 'ranked', 'searchable']) {
    await page.locator(`[data-place=${place}][data-work=runs]`).waitFor()
  }
  expect(await page.locator('.edge[data-to=enriched] .waits').textContent()).toMatch(/^[\d,.]+K? wait · /)
  await page.waitForTimeout(WATCHED_MS)
  const shifts = await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts)
  expect(shifts.reduce((sum, shift) => sum + shift, 0)).toBeLessThanOrEqual(MOST_SHIFT)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
})

it('shows by the keyboard the last events of a stream, and the graph as tables', async () => {
  const page = await open('/pipeline')
  await waitForFlow(page)
  await page.locator('.edge[data-to=searchable]').focus()
  await page.keyboard.press('Enter')
  await page.locator('#stream-events code').first().waitFor({ timeout: FLOW_MS })
  await page.getByRole('button', { name: 'As tables' }).focus()
  await page.keyboard.press('Enter')
  expect(await page.getByRole('row', { name: /^searchable/ }).first().textContent()).toContain('search runs')
})

it('shows without a token what to type instead of a button', async () => {
  const page = await open('/pipeline')
  await page.locator('[data-process=spark] code').waitFor({ timeout: FLOW_MS })
  expect(await page.locator('[data-process=spark] code').textContent()).toBe('murmur chaos kill spark')
  expect(await page.locator('[data-process=spark] button').count()).toBe(0)
})
