import { computed, ref, watchEffect } from 'vue'

type Theme = 'light' | 'dark'
const KEY = 'murmuration.theme'

/** Light or dark: as the system has it, until the visitor chooses. */
export function useTheme() {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const systemTheme = ref<Theme>(system.matches ? 'dark' : 'light')
  system.addEventListener('change', ({ matches }) => (systemTheme.value = matches ? 'dark' : 'light'))

  const stored = localStorage.getItem(KEY)
  const chosen = ref<Theme | null>(stored === 'light' || stored === 'dark' ? stored : null)
  const theme = computed(() => chosen.value ?? systemTheme.value)
  watchEffect(() => (document.documentElement.dataset.theme = theme.value))

  function toggle() {
    chosen.value = theme.value === 'dark' ? 'light' : 'dark'
    localStorage.setItem(KEY, chosen.value)
  }
  return { theme, toggle }
}
