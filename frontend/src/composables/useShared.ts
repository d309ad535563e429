import { inject, provide, type InjectionKey, type Ref, type ShallowRef } from 'vue'
import type { Window } from '@/api/client'
import { useHistory, type History } from '@/composables/useHistory'
import { useLive } from '@/composables/useLive'

/** What every view shows a part of. One stream feeds them all, and moving between views does not interrupt it. */
type Shared = ReturnType<typeof useLive> & { window: Ref<Window>; history: ShallowRef<History> }

const SHARED: InjectionKey<Shared> = Symbol('shared')

/** Opens the stream for the views below the calling component. */
export function provideShared(window: Ref<Window>): Shared {
  const live = useLive(window)
  const shared = { ...live, window, history: useHistory(live.pipeline) }
  provide(SHARED, shared)
  return shared
}

export function useShared(): Shared {
  const shared = inject(SHARED)
  if (!shared) throw new Error('no component above has called provideShared')
  return shared
}
