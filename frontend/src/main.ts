import { createApp } from 'vue'
import { showToken } from '@/api/control'
import App from './App.vue'
import './assets/tokens.css'
import './assets/base.css'

showToken()
createApp(App).mount('#app')
