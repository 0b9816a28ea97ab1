/**
 * Comments name what they describe: one that begins with "Of" leaves the reader to guess the noun. Files that comments and
 * the READMEs of layers name exist, and are other files.
 */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDERS = ['src', 'test', 'scripts', 'bench', 'bin'];
const HEADLESS = /(?:\/\*\*?|\/\/|^\s*\*) Of /;

const COMMENT = /\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/[^\n]*/g;
/** The name of a source, with or without folders. */
const FILE = /(?<![\w/.*-])(?:[\w-]+\/)*[\w][\w-]*\.(?:ts|mjs)\b(?!\.)/g;
/** Files of a user's project, which comments give as examples. */
const EXAMPLE = /^(?:agents\/.*|lib\/a\.ts|foo\.ts|a\.ts)$/;

function headlessIn(file: string): string[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
  return lines.flatMap((line, index) =>
    HEADLESS.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
  );
}

describe('the comments of the sources', () => {
  it('begin with their subject', () => {
    const files = FOLDERS.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(?:[cm]?js|ts)$/.test(name) && !name.split(sep).includes('node_modules'))
        .map((name) => join(folder, name)),
    );
    expect(files.length).toBeGreaterThan(1000);
    expect(files.flatMap(headlessIn)).toEqual([]);
  });

  it('name files that exist, and never their own', () => {
    const sources = FOLDERS.flatMap((folder) =>
      globSync(`${folder}/**/*.{ts,mjs,js}`, { cwd: ROOT, exclude: ['**/node_modules/**'] }),
    );
    const exists = (name: string) => sources.some((file) => `/${file}`.endsWith(`/${name}`));
    const strange = globSync(['src/**/*.ts', 'src/**/README.md'], { cwd: ROOT }).flatMap((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      const words = file.endsWith('.md') ? text : (text.match(COMMENT) ?? []).join('\n');
      const named = [...words.matchAll(FILE)].map(([name]) => name).filter((name) => !EXAMPLE.test(name));
      const wrong = named.filter(
        (name) => !exists(name) || (file.endsWith('.ts') && name === basename(file)),
      );
      return wrong.map((name) => `${file}: ${name}`);
    });
    expect(strange).toEqual([]);
  });
});
