// Extracts the pages of a JSON file with readability.js, and prints what it finds.
import { readFileSync } from 'node:fs'
import { Readability } from '@mozilla/readability'
import { JSDOM, VirtualConsole } from 'jsdom'

const results = {}
for (const page of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
  let html = ''
  let seconds = 0
  try {
    const dom = new JSDOM(page.HTML, { url: 'https://example.com/', virtualConsole: new VirtualConsole() })
    const begin = performance.now()
    html = new Readability(dom.window.document).parse()?.content ?? ''
    seconds = (performance.now() - begin) / 1000
    dom.window.close()
  } catch (err) {
    console.error(page.Name, err.message)
  }
  results[page.Name] = { HTML: html, Seconds: seconds }
}
process.stdout.write(JSON.stringify(results))
