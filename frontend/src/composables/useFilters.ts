import { computed, type WritableComputedRef } from 'vue'
import { useQueryParameter } from '@/composables/useQueryParameter'
import { isMoment, isPeriod, type Filters, type Period } from '@/lib/filters'
import { isLanguage } from '@/lib/languages'

const isText = (value: string): value is string => value.length > 0

/** The filters of the search, each of which lives in the URL. */
export function useFilters(): WritableComputedRef<Filters> {
  const lang = useQueryParameter('lang', '', isLanguage)
  const hashtag = useQueryParameter('hashtag', '', isText)
  const period = useQueryParameter<Period>('period', '', isPeriod)
  const from = useQueryParameter('from', '', isMoment)
  const to = useQueryParameter('to', '', isMoment)
  return computed({
    get: () => ({
      lang: lang.value, hashtag: hashtag.value, period: period.value, from: from.value, to: to.value,
    }),
    set: (next) => {
      lang.value = next.lang
      hashtag.value = next.hashtag
      period.value = next.period
      from.value = next.from
      to.value = next.to
    },
  })
}
