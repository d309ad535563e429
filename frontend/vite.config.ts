import { fileURLToPath } from 'node:url'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  plugins: [vue()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: { target: 'es2022' },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': process.env.MURMUR_URL ?? 'http://127.0.0.1:21000' },
  },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.ts'],
    reporters: ['default', ['junit', { outputFile: '../test-results/vitest.xml' }]],
  },
})
