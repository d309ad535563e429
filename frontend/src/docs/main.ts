/** The HTTP API, as /openapi.json describes it, to read and to try. */

import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import 'swagger-ui-dist/swagger-ui.css'
import './docs.css'

const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()

SwaggerUI({ domNode: document.getElementById('docs'), url: '/openapi.json', deepLinking: true, validatorUrl: null })
