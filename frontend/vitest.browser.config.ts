import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const installed = (name: string) => fileURLToPath(new URL(`./node_modules/${name}`, import.meta.url))

// The browser tests lie with the other tests of the repository, outside of this package: hence the aliases.
export default defineConfig({
  resolve: { alias: {
    'axe-core': installed('axe-core/axe.js'), 'playwright-core': installed('playwright-core/index.mjs'),
  } },
  server: { fs: { allow: ['..'] } },
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['tests/browser/**/*.spec.ts'],
    environment: 'node',
    globals: true,
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', ['junit', { outputFile: 'test-results/browser.xml' }]],
  },
})
