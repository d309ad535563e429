/// <reference types="vite/client" />

declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  /** Shows the description at `url` within `domNode`. */
  export default function SwaggerUI(options: {
    domNode: HTMLElement | null
    url: string
    deepLinking?: boolean
    validatorUrl?: string | null
  }): void
}
