/** The pages name files that exist, and architecture.md names every file of core. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const pages = [
  'README.md',
  'AGENTS.md',
  ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
].filter((file) => file.endsWith('.md'));

/** First segments of paths in this repository or in `src`; other paths are examples of a user's project. */
const PLACES = [...readdirSync(join(ROOT, 'src')), 'src', 'test', 'bench', 'scripts', 'temporal'];
const FILE = new RegExp(`\`((?:${PLACES.join('|')})/[\\w./-]+\\.(?:ts|mjs|json|yaml|txt|sh))\``, 'g');

describe('the pages', () => {
  it.each(pages)('%s names files that exist', (page) => {
    const named = [...read(page).matchAll(FILE)].map(([, file]) => file as string);
    expect(
      named.filter((file) => ![file, `src/${file}`].some((path) => existsSync(join(ROOT, path)))),
    ).toEqual([]);
  });

  it('describe each file of core once', () => {
    const page = read('docs/architecture.md');
    const start = page.indexOf('### The inside of core');
    const table = page.slice(start, page.indexOf('\n## ', start));
    const rows = [...table.matchAll(/^\| (?:`([\w-]+)` )?\| [^|]+ \| (.+) \|$/gm)];
    let folder = '';
    const named = rows.flatMap(([, where, files = '']) => {
      folder = where || folder;
      return [...files.matchAll(/`([\w-]+)`/g)].map(([, name]) => `${folder}/${name}.ts`);
    });
    const core = join(ROOT, 'src', 'core');
    const present = readdirSync(core)
      .filter((name) => name !== 'redaction')
      .flatMap((name) => readdirSync(join(core, name)).map((file) => `${name}/${file}`));
    expect(named.toSorted()).toEqual(present.toSorted());
  });
});
