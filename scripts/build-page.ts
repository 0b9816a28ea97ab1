/**
 * Builds the page at `/ui`: its code, its style and its frame in one HTML file that loads nothing else. `npm run build`
 * writes dist/ui/index.html; a server that runs from the sources builds it on demand (src/server/api/page.ts).
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';

const SOURCE = new URL('../src/ui/', import.meta.url);
const TARGET = new URL('../dist/ui/', import.meta.url);

export async function buildPage(): Promise<string> {
  const code = (await bundle()).replaceAll('</script', '<\\/script').trim();
  const style = minifyStyle(readFileSync(new URL('page.css', SOURCE), 'utf8'));
  const version = createHash('sha256').update(code).update(style).digest('hex').slice(0, 16);
  const frame = readFileSync(new URL('page.html', SOURCE), 'utf8');
  // Functions, because `$` has a meaning in a replacement text.
  return frame
    .replace('{version}', () => version)
    .replace('{style}', () => style)
    .replace('{code}', () => code);
}

async function bundle(): Promise<string> {
  const built = await rolldown({
    input: fileURLToPath(new URL('main.tsx', SOURCE)),
    platform: 'browser',
    tsconfig: fileURLToPath(new URL('tsconfig.json', SOURCE)),
    transform: { target: 'es2022' },
  });
  const { output } = await built.generate({
    format: 'iife',
    minify: true,
    codeSplitting: false,
    comments: { legal: false, annotation: false, jsdoc: false },
  });
  await built.close();
  return output[0].code;
}

function minifyStyle(style: string): string {
  return style
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,]) ?/g, '$1')
    .trim();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const page = await buildPage();
  mkdirSync(TARGET, { recursive: true });
  writeFileSync(new URL('index.html', TARGET), page);
  console.log(`dist/ui/index.html: ${(gzipSync(page).length / 1024).toFixed(1)} KiB compressed`);
}
