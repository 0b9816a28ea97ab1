/** The pages name files that exist, architecture.md is short, and the README of core names every file of it. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const pages = [
  'README.md',
  'AGENTS.md',
  ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
  ...globSync(['docs/generated/*.md', 'src/**/README.md'], { cwd: ROOT }),
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

  it.each(pages.filter((page) => page.startsWith('src/')))('%s has 5 to 45 lines', (page) => {
    const lines = read(page).split('\n').length;
    expect(lines).toBeGreaterThan(5);
    expect(lines).toBeLessThanOrEqual(45);
  });

  it('give architecture.md at most 1,500 words', () => {
    expect(read('docs/architecture.md').split(/\s+/).length).toBeLessThanOrEqual(1500);
  });

  it('link to pages that exist', () => {
    const links = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\(([\w./-]+\.md)[^)]*\)/g)].map(([, to]) => join(page, '..', String(to))),
    );
    expect(links.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('name each file of core with what it is about, once', () => {
    const table = read('src/core/README.md');
    const rows = [...table.matchAll(/^\| (?:`([\w-]+)` )?\| [^|]+ \| (.+) \|$/gm)];
    let folder = '';
    const named = rows.flatMap(([, where, files = '']) => {
      folder = where || folder;
      return [...files.matchAll(/`([\w-]+)`/g)].map(([, name]) => `${folder}/${name}.ts`);
    });
    const core = join(ROOT, 'src', 'core');
    const present = readdirSync(core)
      .filter((name) => name !== 'redaction' && name !== 'README.md')
      .flatMap((name) =>
        readdirSync(join(core, name))
          .map((file) => `${name}/${file}`)
          .filter((file) => file.endsWith('.ts')),
      );
    expect(named.toSorted()).toEqual(present.toSorted());
  });
});
