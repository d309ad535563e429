import type { Stage } from '@/api/client'
import { formatShare } from '@/lib/format'

export const WARNING_SHARE = 0.5
export const ALARM_SHARE = 0.8

export interface RetentionNotice {
  level: 'warning' | 'alarm'
  text: string
}

/** What to say of stages that their streams' retention is about to overtake; null: there is room. */
export function retentionNotice(stages: Stage[]): RetentionNotice | null {
  const near = stages
    .flatMap(({ name, retention_used: used }) => (used !== null && used >= WARNING_SHARE ? [{ name, used }] : []))
    .sort((a, b) => b.used - a.used)
  const [first] = near
  if (!first) return null
  const level = first.used >= ALARM_SHARE ? 'alarm' : 'warning'
  const used = near.map(({ name, used }) => `${name} ${formatShare(used).replace(' ', '\u00a0')}`).join(', ')
  return {
    level,
    text: `${level === 'alarm' ? 'Alarm' : 'Warning'}: share of the retention used: ${used}. ` +
      `At 100\u00a0% a stream deletes tweets that were not read yet.`,
  }
}
