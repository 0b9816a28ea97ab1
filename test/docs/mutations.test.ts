/** Each mutation of `npm run mutate` still matches the source, and docs/generated/mutations.md names the test that notices it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface Mutation {
  readonly name: string;
  readonly tests: readonly string[];
}

const ROOT = join(import.meta.dirname, '..', '..');
const load = (path: string) => import(new URL(`../../scripts/${path}`, import.meta.url).href);
const { PARTS } = await load('mutations/index.mjs');
const { mutate, readSources } = await load('mutate/tree.mjs');
const { readFindings, readPage, renderPage } = await load('mutate/page.mjs');

const mutations = (PARTS as { mutations: Mutation[] }[]).flatMap((part) => part.mutations);
const names = mutations.map(({ name }) => name);
const sources: ReadonlyMap<string, string> = readSources();

describe('the list of mutations', () => {
  it.each(mutations.map((mutation) => [mutation.name, mutation] as const))(
    'finds its text once, and its tests: %s',
    (_name, mutation) => {
      const changed: ReadonlyMap<string, string> = mutate(sources, mutation);
      expect(changed.size).toBeGreaterThan(0);
      for (const [path, text] of changed) expect(text).not.toBe(sources.get(path));
      expect(mutation.tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    },
  );

  it('has a unique name for each', () => {
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('equals docs/generated/mutations.md (npm run mutate -- --write writes it)', () => {
    const findings: ReadonlyMap<string, string> = readFindings();
    expect(readPage()).toBe(renderPage(PARTS, (name: string) => findings.get(name)));
    expect(names.filter((name) => findings.get(name)?.startsWith('**'))).toEqual([]);
  });
});
