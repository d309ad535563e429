/**
 * Takes the pictures of the film and of the README: `node record.mjs FOLDER`. MURMUR_URL and MURMUR_TOKEN tell of an
 * instance that is fed; its Spark is killed. Stills go beside this folder, frames into FOLDER, each named by the
 * milliseconds since the first.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'

const { chromium } = createRequire(new URL('../../frontend/package.json', import.meta.url))('playwright-core')
const SIZE = { width: 1440, height: 900 }
const FRAME_MS = 500
const RECOVERY_MS = 180_000

const [folder] = process.argv.slice(2)
const stills = join(import.meta.dirname, '..')
const browser = await chromium.launch({
  executablePath: process.env.MURMUR_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
})
const page = await browser.newPage({ viewport: SIZE, baseURL: process.env.MURMUR_URL })
const began = Date.now()

async function film(until, mostMs) {
  const end = Date.now() + mostMs
  do {
    const name = String(Date.now() - began).padStart(7, '0')
    await page.screenshot({ path: join(folder, `${name}.png`) })
    await page.waitForTimeout(FRAME_MS)
  } while (Date.now() < end && !(await until()))
  if (Date.now() >= end && mostMs === RECOVERY_MS) throw new Error('Spark has not caught up in time')
}
const forSeconds = (seconds) => film(() => false, seconds * 1000)
const still = (name) => page.screenshot({ path: join(stills, `${name}.png`) })
const go = (name) => page.getByRole('link', { name, exact: true }).click()

try {
  await page.goto(`/#token=${process.env.MURMUR_TOKEN}`)
  await page.locator('.word').first().waitFor()
  await forSeconds(6)
  await still('page')
  await go('Pipeline')
  await page.locator('[data-process=spark] button').waitFor()
  await forSeconds(5)
  await still('pipeline')
  await page.locator('[data-process=spark] button').click()
  await page.evaluate(() => scrollTo(0, 0)) // the button lies below
  await forSeconds(3)
  await still('pipeline-killed')
  await film(() => page.getByText(/caught up after/).first().isVisible(), RECOVERY_MS)
  await forSeconds(6)
  await still('pipeline-recovered')
  await go('Live')
  await forSeconds(4)
  await go('One tweet')
  await page.getByRole('textbox').fill('Just watched a flock turn over the harbour #murmuration')
  await page.getByRole('button', { name: 'Publish' }).click()
  await page.locator('[data-state=passed]').nth(3).waitFor({ timeout: RECOVERY_MS })
  await still('tweet')
  await go('Experiments')
  await page.locator('main table').first().waitFor()
  await page.locator('main table a, main table button').first().click()
  await page.waitForTimeout(2_000)
  await still('experiments')
} finally {
  await browser.close()
}
