/** Languages of tweets, as the search can be narrowed to one. */

/** Those that the search's encoder knows; a tweet may be of any other. */
const KNOWN = ['ar', 'de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'nl', 'pl', 'pt', 'ru', 'th', 'tr', 'zh']

const LONGEST = 16
const names = new Intl.DisplayNames('en', { type: 'language' })

/** Whether the API takes it as a language. */
export const isLanguage = (value: string): value is string =>
  value.length <= LONGEST && /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(value)

/** In English; a code that has no name stands for itself. */
export function languageName(code: string): string {
  try {
    return names.of(code) ?? code
  } catch {
    return code
  }
}

/** What there is to choose: known ones, those of the visitor's browser, and the one that is chosen; by name. */
export function languageChoices(chosen: string, preferred: readonly string[]): { code: string; name: string }[] {
  const codes = new Set([...KNOWN, ...preferred.map((each) => each.split('-')[0]!), chosen].filter(isLanguage))
  return [...codes].map((code) => ({ code, name: languageName(code) })).sort((a, b) => a.name.localeCompare(b.name))
}
