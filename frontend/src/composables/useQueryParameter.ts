import { onScopeDispose, ref, watch, type Ref } from 'vue'

/** A value that lives in the URL's query, so that a link or a reload brings it back; the default leaves no trace. */
export function useQueryParameter<Value extends string>(
  name: string,
  fallback: Value,
  accepts: (value: string) => value is Value,
): Ref<Value> {
  const read = (): Value => {
    const value = new URLSearchParams(location.search).get(name)
    return value !== null && accepts(value) ? value : fallback
  }
  const value = ref(read()) as Ref<Value>

  watch(value, (next) => {
    if (next === read()) return
    const url = new URL(location.href)
    if (next === fallback) url.searchParams.delete(name)
    else url.searchParams.set(name, next)
    history.pushState(null, '', url)
  }, { flush: 'sync' })

  const goBack = () => (value.value = read())
  addEventListener('popstate', goBack)
  onScopeDispose(() => removeEventListener('popstate', goBack))
  return value
}
