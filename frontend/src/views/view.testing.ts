import { flushPromises, mount } from '@vue/test-utils'
import { defineComponent, h, ref, type Component } from 'vue'
import { provideShared } from '@/composables/useShared'

/** A view within what all views share, attached to the document, when what it asks for at first is there. */
export async function mountView(view: Component) {
  const wrapper = mount(defineComponent({
    setup() {
      provideShared(ref('5m'))
      return () => h(view)
    },
  }), { attachTo: document.body })
  await flushPromises()
  return wrapper
}
