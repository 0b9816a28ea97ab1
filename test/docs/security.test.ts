/** Pages promise what tests show: the files that they name exist, and have the titles that they quote. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');
const readPage = (page: string) => readFileSync(join(ROOT, 'docs', page), 'utf8');

function namedFiles(page: string): string[] {
  const named = page.matchAll(/`((?:test|src|bench)\/[\w./-]+\.ts)`/g);
  return [...new Set([...named].map(([, path]) => path as string))];
}

/** The text of all tests, in which quoted titles are searched. */
const SOURCES = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(join(ROOT, 'test', path), 'utf8'))
  .join('\n');

/** Titles quoted in the last column. One that is cut, or has a place for names, is searched by its longest piece. */
function quotedTitles(page: string): string[] {
  const cells = page
    .split('\n')
    .flatMap((line) =>
      line.startsWith('| ') && line.includes('test/') ? [line.split(' | ').at(-1) as string] : [],
    );
  return cells.flatMap((cell) => [...cell.matchAll(/"([^"]{12,})"/g)].map(([, title]) => title as string));
}

function longestPiece(title: string): string {
  const pieces = title.replace(/^\[[\w .]+\] /, '').split(/…|\*\w+\*|%s|\$\{\w+\}/);
  return pieces.map((piece) => piece.trim()).reduce((a, b) => (b.length > a.length ? b : a), '');
}

describe.each([
  ['security', 30, 60],
  ['agents', 8, 25],
])('the page %s', (page, leastFiles, leastTitles) => {
  const text = readPage(`${page}.md`);

  it('names existing files', () => {
    const files = namedFiles(text);
    expect(files.length).toBeGreaterThan(leastFiles);
    expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('quotes existing titles', () => {
    const titles = quotedTitles(text);
    expect(titles.length).toBeGreaterThan(leastTitles);
    expect(titles.filter((title) => !SOURCES.includes(longestPiece(title)))).toEqual([]);
  });

  it('shows a test for each row of a table that says by which it is shown', () => {
    const shown = text.split('\n| what | what happens | shown by |\n')[1]?.split('\n\n')[0] ?? '';
    const rows = shown.split('\n').slice(1);
    expect(rows.filter((row) => quotedTitles(row).length === 0)).toEqual([]);
  });
});
