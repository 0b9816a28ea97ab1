/** The definitions that the pages show are valid: loaded as a project, they lack only what the page does not show. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { loadProject } from '../../src/index.ts';
import { readExamples } from './page-examples.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'everthread-pages-'));
symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Matches `docs-tools.md/6/agents/tools/refund.ts`: the page, the line, the file. */
const SHOWN = /^([^/]+)\/\d+\/(agents\/.+)$/;

function projects(): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const [path, text] of readExamples()) {
    const [, page, file] = SHOWN.exec(path) ?? [];
    if (page === undefined || file === undefined) continue;
    const place = join(folder, page, file);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text);
    files.set(page, [...(files.get(page) ?? []), file]);
  }
  return files;
}

const PROJECTS = projects();

describe('the definitions of a page', () => {
  it('exist on most of them', () => {
    expect(PROJECTS.size).toBeGreaterThan(8);
  });

  it.each([...PROJECTS])('of %s are valid: %j', async (page, shown) => {
    const { problems, files } = await loadProject(join(folder, page));
    expect(files.filter((file) => shown.includes(file)).toSorted()).toEqual(shown.toSorted());
    expect(problems.filter(({ message }) => !message.endsWith('which does not exist.'))).toEqual([]);
  });
});
