/** What a visitor sees while tweets flow. Needs an instance up and fed: `./murmur ingest --source synthetic`. */

import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { FLOW_MS, useBrowser } from './page.ts'

const open = useBrowser()
const TWEETS = '[aria-labelledby=trending] .panel-head .quiet'

async function waitForChange(page: Page, selector: string) {
  const before = await page.locator(selector).first().innerHTML()
  await page.waitForFunction(
    ([where, was]) => document.querySelector(where!)?.innerHTML !== was, [selector, before], { timeout: FLOW_MS })
}

async function waitForCloud(page: Page) {
  await page.locator('.word').first().waitFor({ timeout: FLOW_MS })
}

function background(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.body).backgroundColor)
}

it('shows the cloud and the same hashtags in the list, and both change', async () => {
  const page = await open('/?window=1m')
  await waitForCloud(page)
  const listed = await page.locator('.ranking .name').allTextContents()
  const words = await page.locator('.word').evaluateAll((all) =>
    all.map((word) => `#${word.getAttribute('data-hashtag')}`))
  expect(words.some((word) => listed.includes(word))).toBe(true)
  await waitForChange(page, '.frame svg')
  await waitForChange(page, '.ranking')
})

it('shows the rate of every stage', async () => {
  const page = await open()
  for (const stage of ['published', 'enriched', 'ranked', 'searchable']) {
    const rate = page.locator(`[data-stage=${stage}] .rate strong`)
    await rate.waitFor({ timeout: FLOW_MS })
    await expect.poll(() => rate.textContent(), { timeout: FLOW_MS }).toMatch(/^[1-9<]/)
  }
})

it('finds tweets, by "/" and Enter, and keeps the query in the URL', async () => {
  const page = await open()
  await waitForCloud(page)
  await page.keyboard.press('/')
  await page.keyboard.type('music tonight')
  await page.keyboard.press('Enter')
  await page.locator('.hit').first().waitFor({ timeout: FLOW_MS })
  expect(new URL(page.url()).searchParams.get('q')).toBe('music tonight')
  await page.reload()
  await page.locator('.hit').first().waitFor({ timeout: FLOW_MS })
})

it('opens a hashtag by the keyboard, at an address of its own', async () => {
  const page = await open()
  await waitForCloud(page)
  const word = page.locator('.word[tabindex="0"]')
  const hashtag = await word.getAttribute('data-hashtag')
  await word.focus()
  await page.keyboard.press('Enter')
  await page.locator('dialog .hit').first().waitFor({ timeout: FLOW_MS })
  expect(new URL(page.url()).searchParams.get('tag')).toBe(hashtag)
  expect(await page.locator('dialog h2').textContent()).toBe(`#${hashtag}`)
  await page.reload()
  await page.locator('dialog .hit').first().waitFor({ timeout: FLOW_MS })
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })
  expect(new URL(page.url()).searchParams.has('tag')).toBe(false)
})

it('searches only the tweets of a hashtag that was opened', async () => {
  const page = await open()
  await waitForCloud(page)
  await page.locator('.ranking button').first().click()
  await page.getByRole('button', { name: 'Search only its tweets' }).click()
  await page.locator('.hit').first().waitFor({ timeout: FLOW_MS })
  expect(await page.locator('input[name=q]').inputValue()).toMatch(/^#./)
  const filter = await page.locator('input[name=hashtag]').inputValue()
  expect(`#${filter}`).toBe(await page.locator('input[name=q]').inputValue())
})

it('follows the system into dark mode, and remembers another choice', async () => {
  const page = await open('/', { colorScheme: 'dark' })
  const dark = await background(page)
  await page.getByRole('button', { name: 'Use light colours' }).click()
  const light = await background(page)
  expect(light).not.toBe(dark)
  await page.reload()
  expect(await background(page)).toBe(light)
})

it('keeps its data, and says how old it is, while the API is away', async () => {
  const page = await open()
  await waitForCloud(page)
  await page.route('**/api/**', (route) => route.abort())
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Resume' }).click()
  const notice = page.locator('[aria-labelledby=trending] .notice')
  await notice.waitFor({ timeout: FLOW_MS })
  expect(await notice.textContent()).toMatch(/Showing data from \d+ s ago; trending unavailable/)
  expect(await page.locator('.word').count()).toBeGreaterThan(0)
  await page.unroute('**/api/**')
  await notice.waitFor({ state: 'detached', timeout: FLOW_MS })
})

it('falls back to polling when the stream is refused', async () => {
  const page = await open('/?window=15m')
  await page.route('**/api/v1/events**', (route) => route.fulfill({ status: 503, body: '{}' }))
  await page.reload()
  await page.locator('[data-state=polling]').waitFor({ timeout: FLOW_MS })
  await waitForCloud(page)
})

it('stands still while paused', async () => {
  const page = await open('/?window=1m')
  await waitForCloud(page)
  await page.getByRole('button', { name: 'Pause' }).click()
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  const paused = await page.locator(TWEETS).textContent()
  await page.waitForFunction(() => /data: \d+ s ago/.test(document.querySelector('.state')?.textContent ?? ''))
  expect(await page.locator(TWEETS).textContent()).toBe(paused)
  expect(requests).toEqual([])
})

it.each([[1440, 900], [390, 844], [360, 740]])('shows ledger, rate and ranking at %i × %i', async (width, height) => {
  const page = await open('/', { viewport: { width, height } })
  await waitForCloud(page)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
  for (const shown of ['.ledger', '[data-stage=searchable] .rate', '.ranking li:nth-child(3)']) {
    const box = await page.locator(shown).boundingBox()
    expect(box!.y + box!.height, shown).toBeLessThanOrEqual(height)
  }
})

it('moves between views by the keyboard, marks the current one, and keeps its stream', async () => {
  const page = await open('/?window=1m')
  await waitForCloud(page)
  const streams: string[] = []
  page.on('request', (request) => request.url().includes('/events') && streams.push(request.url()))
  for (const [name, path] of [['Pipeline', '/pipeline'], ['One tweet', '/tweet'], ['Experiments', '/experiments']]) {
    await page.getByRole('link', { name, exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.locator('nav [aria-current=page]', { hasText: name }).waitFor()
    expect(new URL(page.url()).pathname).toBe(path)
    await page.locator('main h2').first().waitFor()
  }
  expect(streams).toEqual([])
  await page.reload()
  await page.locator('nav [aria-current=page]', { hasText: 'Experiments' }).waitFor()
})

it('leaves words of the cloud where they are while it follows the tweets', async () => {
  const page = await open('/')
  await waitForCloud(page)
  const places = () => page.locator('.word').evaluateAll((all) => Object.fromEntries(all.map((word) =>
    [word.getAttribute('data-hashtag'), word.querySelector('text')!.style.translate])))
  const before = await places()
  await waitForChange(page, '.frame svg')
  const after = await places()
  const stayed = Object.keys(before).filter((hashtag) => hashtag in after)
  expect(stayed.filter((hashtag) => before[hashtag] === after[hashtag]).length).toBeGreaterThan(stayed.length / 2)
})
