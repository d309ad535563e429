import { fileURLToPath } from 'node:url'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vitest/config'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const API = process.env.MURMUR_URL ?? 'http://127.0.0.1:21000'

export default defineConfig({
  plugins: [vue()],
  resolve: { alias: { '@': here('./src') } },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000, // Swagger UI, which only /docs loads
    rolldownOptions: { input: { page: here('./index.html'), docs: here('./docs/index.html') } },
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': API, '/openapi.json': API },
  },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.ts'],
    reporters: ['default', ['junit', { outputFile: '../test-results/vitest.xml' }]],
  },
})
