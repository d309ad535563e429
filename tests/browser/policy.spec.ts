/** What the page may load, and the description of the API. Needs an instance that is up. */

import { expect, it } from 'vitest'
import { refused, useBrowser } from './page.ts'

const open = useBrowser()

it('runs no script and takes no style but those of our files', async () => {
  const page = await open()
  const state = await page.evaluate(() => {
    const script = document.createElement('script')
    script.textContent = 'document.documentElement.dataset.ran = "yes"'
    document.body.append(script)
    document.body.insertAdjacentHTML('beforeend', '<p id="styled" style="position: fixed">styled</p>')
    document.body.insertAdjacentHTML('beforeend', '<img src="https://elsewhere.example/x.png">')
    return {
      ran: document.documentElement.dataset.ran,
      position: getComputedStyle(document.getElementById('styled')!).position,
    }
  })
  expect(state).toEqual({ ran: undefined, position: 'static' })
  await expect.poll(() => refused.length).toBe(3)
  refused.length = 0
})

it('shows every operation of the API, and tries one', async () => {
  const page = await open('/docs')
  const description = await page.request.get('/openapi.json').then((response) => response.json())
  await page.locator('.opblock').first().waitFor()
  const shown = await page.locator('.opblock-summary-path').evaluateAll((all) =>
    all.map((each) => each.getAttribute('data-path')))
  expect(shown.sort()).toEqual(Object.keys(description.paths).sort())
  await page.locator('[id^=operations-Pipeline]').first().click()
  await page.getByRole('button', { name: 'Try it out' }).click()
  await page.getByRole('button', { name: 'Execute' }).click()
  const status = page.locator('.live-responses-table tbody .response-col_status').first()
  await expect.poll(() => status.textContent()).toContain('200')
})
