/** Rules that other files cite have an id: each is stated once in its file's header, in words, and listed in docs/generated/conformance.md. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../architecture/source-tree.ts';

interface Rule {
  readonly file: string;
  readonly id: string;
  readonly words: string;
}

interface Use {
  readonly file: string;
  readonly id: string;
  readonly bare: boolean;
}

const { readRules, readUses, withRules, TARGET } = await import(
  new URL('../../scripts/write-rules.mjs', import.meta.url).href
);
const rules: readonly Rule[] = readRules();
const uses: readonly Use[] = readUses();
const nameOf = ({ file, id }: Pick<Rule, 'file' | 'id'>) => `${file} ${id}`;

/** Every file that may cite a rule. */
const texts = ['src', 'scripts', 'test', 'docs'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mjs|md)$/.test(name) && !/node_modules|generated/.test(name))
    .map((name) => ({ file: `${folder}/${name}`, text: readFileSync(join(ROOT, folder, name), 'utf8') })),
);

/** Folders in which every mention of a rule has words beside it. */
const WORDED = /^(scripts|src)/;

describe('the rules of the sources', () => {
  it('are listed in docs/generated/conformance.md (npm run rules writes it)', () => {
    const page = readFileSync(TARGET, 'utf8');
    expect(page).toBe(withRules(page));
  });

  it('have an id that is unique in the tree', () => {
    const ids = rules.map(({ id }) => id);
    expect(rules.filter(({ id }, index) => ids.indexOf(id) !== index).map(nameOf)).toEqual([]);
  });

  it('have an id only if another file cites them', () => {
    const cited = (rule: Rule) =>
      texts.some(({ file, text }) => file !== rule.file && new RegExp(`\\b${rule.id}\\b`).test(text));
    expect(rules.filter((rule) => !cited(rule)).map(nameOf)).toEqual([]);
  });

  it('have a text', () => {
    expect(rules.filter(({ words }) => words.split(' ').length < 3).map(nameOf)).toEqual([]);
  });

  it('are stated in the header of every file that names them', () => {
    const known = new Set(rules.map(nameOf));
    expect(uses.filter((use) => !known.has(nameOf(use))).map(nameOf)).toEqual([]);
  });

  it('are cited with a few words next to the id', () => {
    expect(uses.filter(({ file, bare }) => bare && WORDED.test(file)).map(nameOf)).toEqual([]);
  });
});
