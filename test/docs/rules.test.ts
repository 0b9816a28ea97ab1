/** Comments name rules by ids: each is stated once in its file's header, in words, and listed in docs/generated/conformance.md. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

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

/** Folders in which every mention of a rule has words beside it. */
const WORDED = /^(scripts|src)/;

describe('the rules of the sources', () => {
  it('are listed in docs/generated/conformance.md (npm run rules writes it)', () => {
    const page = readFileSync(TARGET, 'utf8');
    expect(page).toBe(withRules(page));
  });

  it('have an id that their file uses once', () => {
    const names = rules.map(nameOf);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
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
