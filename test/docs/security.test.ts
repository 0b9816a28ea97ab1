/** `docs/security.md` promises what tests show: the files that it names exist, and have the titles that it quotes. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');
const PAGE = readFileSync(join(ROOT, 'docs', 'security.md'), 'utf8');
const FILES = [
  ...new Set([...PAGE.matchAll(/`((?:test|src|bench)\/[\w./-]+\.ts)`/g)].map(([, path]) => path as string)),
];

/** The text of all tests, in which quoted titles are searched. */
const SOURCES = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(join(ROOT, 'test', path), 'utf8'))
  .join('\n');

/** Titles quoted in the last column. One that is cut, or has a place for names, is searched by its longest piece. */
function quotedTitles(): string[] {
  const cells = PAGE.split('\n').flatMap((line) =>
    line.startsWith('| ') && line.includes('test/') ? [line.split(' | ').at(-1) as string] : [],
  );
  return cells.flatMap((cell) => [...cell.matchAll(/"([^"]{12,})"/g)].map(([, title]) => title as string));
}

function longestPiece(title: string): string {
  const pieces = title.replace(/^\[[\w .]+\] /, '').split(/…|\*\w+\*|%s|\$\{\w+\}/);
  return pieces.map((piece) => piece.trim()).reduce((a, b) => (b.length > a.length ? b : a), '');
}

describe('the page on security', () => {
  it('names existing files', () => {
    expect(FILES.length).toBeGreaterThan(30);
    expect(FILES.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('quotes existing titles', () => {
    const titles = quotedTitles();
    expect(titles.length).toBeGreaterThan(60);
    expect(titles.filter((title) => !SOURCES.includes(longestPiece(title)))).toEqual([]);
  });
});
