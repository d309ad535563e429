import { computed, onScopeDispose, ref } from 'vue'

/** The views, by the first part of their address. */
export const VIEWS = {
  '/': 'Live', '/pipeline': 'Pipeline', '/tweet': 'One tweet', '/experiments': 'Experiments',
} as const

export type View = keyof typeof VIEWS

const isView = (path: string): path is View => Object.hasOwn(VIEWS, path)

/** Which view the address of the page names (null: none), and how to go to another without loading the page anew. */
export function useRoute() {
  const read = () => `/${location.pathname.split('/')[1] ?? ''}`
  const path = ref(read())
  const view = computed(() => (isView(path.value) ? path.value : null))

  function go(href: string) {
    history.pushState(null, '', href)
    path.value = read()
  }

  const goBack = () => (path.value = read())
  addEventListener('popstate', goBack)
  onScopeDispose(() => removeEventListener('popstate', goBack))
  return { view, go }
}
