/**
 * How several processes share the files of a run: each file is run once, by one of them, and the longest are run early.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { runJestIn, writeFiles } from './jest-process.ts';

const ROOT = join(import.meta.dirname, '..', '..');

it('processes that share a claims folder run each file once, within their limits', async () => {
  const claims = mkdtempSync(join(tmpdir(), 'everthread-claims-'));
  const names = Array.from({ length: 8 }, (_, index) => `file ${index}`);
  const waits = "it('one', () => new Promise((resolve) => setTimeout(resolve, 50)));";
  const folder = writeFiles(Object.fromEntries(names.map((name) => [name, waits])));
  const lane = (atMost: number) =>
    runJestIn(folder, [], { EVERTHREAD_TEST_CLAIMS: claims, EVERTHREAD_TEST_CLAIMS_AT_MOST: String(atMost) });
  try {
    const reports = [...(await Promise.all([lane(3), lane(3)])), await lane(names.length), await lane(1)];
    expect(reports.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(reports.map(({ files }) => Object.keys(files).length)).toEqual([3, 3, 2, 0]);
    expect(reports.flatMap(({ files }) => Object.keys(files)).sort()).toEqual(names);
  } finally {
    for (const each of [claims, folder]) rmSync(each, { recursive: true, force: true });
  }
});

it('the longest files come first, and no file that starts processes comes last', () => {
  const Mixed = createRequire(import.meta.url)('./mixed.cjs');
  const context = { config: { rootDir: ROOT } };
  const names = ['core', 'faults', 'cli', 'conformance'].flatMap((folder) =>
    Array.from({ length: 40 }, (_, index) => `${folder}/${index}.test.ts`),
  );
  const tests = [...names, 'faults/author-crash.test.ts'].map((name) => ({
    path: join(ROOT, 'test', name),
    context,
  }));
  const sorted: { path: string }[] = new Mixed({}).sort(tests);
  expect(sorted[0]?.path).toContain('author-crash');
  const last = sorted.slice(-10).map(({ path }) => path);
  expect(last.filter((path) => /faults|cli/.test(path))).toEqual([]);
  expect(new Mixed({}).sort([...tests].reverse())).toEqual(sorted);
});
