/** What axe finds, how the page does with twice the size of everything, and how large its targets are: of every view,
 * with answers that are always the same. */

import axe from 'axe-core'
import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { answerAlike } from './answers.ts'
import { useBrowser } from './page.ts'

const open = useBrowser()

/** Addresses, and what is to be there before anything is looked at. */
const VIEWS = [
  ['/', '.word'], ['/?q=music&period=between&hashtag=music', '.hit'], ['/?tag=music', 'dialog .hit'],
  ['/pipeline', '[data-process=spark] button'], ['/tweet', 'main input:enabled'],
  ['/experiments?id=one&beside=two', 'main table'],
] as const
const THEMES = ['light', 'dark'] as const
const EACH = THEMES.flatMap((theme) => VIEWS.map(([path, shown]) => ({ theme, path, shown })))
/** 200 % of a window of 1440 × 900. */
const ZOOMED = { width: 720, height: 450 }
const LEAST_PX = 24

async function view(path: string, shown: string, options = {}): Promise<Page> {
  const page = await open('about:blank', { reducedMotion: 'reduce', ...options })
  await answerAlike(page)
  await page.goto(path)
  await page.locator(shown).first().waitFor()
  return page
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run({
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  }))
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`))
}

it.each(EACH)('has no barrier that axe knows: $theme $path', async ({ theme, path, shown }) => {
  expect(await violations(await view(path, shown, { colorScheme: theme }))).toEqual([])
})

it.each(VIEWS)('needs no scrolling sideways at 200 %%, and has no barrier there: %s', async (path, shown) => {
  const page = await view(path, shown, { viewport: ZOOMED })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(ZOOMED.width)
  expect(await violations(page)).toEqual([])
})

it.each(VIEWS)('has targets of 24 px at least: %s', async (path, shown) => {
  const page = await view(path, shown)
  const small = await page.evaluate((least) => {
    // A word of a sentence is as high as its line; the words of the cloud are in the list, too.
    const targets = [...document.querySelectorAll('a, button, input, select, summary, [role=button]:not(.word)')]
    return targets
      .map((target) => (target.matches('[type=radio], [type=checkbox]') && target.closest('label')) || target)
      .filter((target) => getComputedStyle(target).display !== 'inline' && target.getClientRects().length > 0)
      .filter((target) => Math.min(target.getBoundingClientRect().width, target.getBoundingClientRect().height) < least)
      .map((target) => target.outerHTML.slice(0, 120))
  }, LEAST_PX)
  expect(small).toEqual([])
})
