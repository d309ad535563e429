/** The page of a running instance, in headless Chromium. MURMUR_URL tells where it is. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, onTestFailed } from 'vitest'

const URL_OF_PAGE = process.env.MURMUR_URL ?? 'http://127.0.0.1:21000'
const CHROMIUM = process.env.MURMUR_CHROMIUM ?? '/usr/bin/chromium'
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync']
const SCREENSHOTS = join(import.meta.dirname, '../../test-results')

/** How long data may take from the source to the page. */
export const FLOW_MS = 30_000

/** What the page's Content-Security-Policy has refused, as the console tells it; a test that provokes it empties it. */
export const refused: string[] = []

/**
 * Starts the browser for the tests of a file; returns how a test opens a page, which lives as long as the test. Every
 * test fails if its page wanted what the Content-Security-Policy refuses.
 */
export function useBrowser(): (path?: string, options?: BrowserContextOptions) => Promise<Page> {
  let browser: Browser
  const opened: Page[] = []

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS })
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((page) => page.context().close()))
    expect(refused.splice(0)).toEqual([])
  })
  afterAll(() => browser?.close())

  return async (path = '/', options = {}) => {
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 }, baseURL: URL_OF_PAGE, ...options,
    })
    const page = await context.newPage()
    opened.push(page)
    page.on('console', (message) => {
      if (/Content.Security.Policy/i.test(message.text())) refused.push(message.text())
    })
    onTestFailed(async ({ task }) => {
      mkdirSync(SCREENSHOTS, { recursive: true })
      const name = task.name.replace(/\W+/g, '-')
      await page.screenshot({ path: join(SCREENSHOTS, `browser-${name}.png`), fullPage: true }).catch(() => undefined)
    })
    await page.goto(path)
    return page
  }
}
