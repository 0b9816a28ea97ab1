/** Which changes of a project `dev` detects, however they are made. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type Watcher, watchAgents } from '../../src/cli/project/watch-agents.ts';
import { eventually } from '../support/eventually.ts';

let folder: string;
let watcher: Watcher;
let seen = 0;

const at = (path: string) => join(folder, path);
const watching = (since: number, files: readonly string[] = []) => {
  watcher = watchAgents({
    projectDir: folder,
    since,
    files: new Set(files),
    changed: async () => {
      seen += 1;
    },
    failed(error) {
      throw error;
    },
  });
};

async function expectSeen(what: string, change: () => void): Promise<void> {
  const before = seen;
  change();
  await eventually(what, () => seen > before);
}

beforeEach(() => {
  seen = 0;
  folder = mkdtempSync(join(tmpdir(), 'everthread-watch-'));
  mkdirSync(at('agents/tools'), { recursive: true });
  writeFileSync(at('agents/tools/one.ts'), '0');
});
afterEach(async () => {
  await watcher.close();
  rmSync(folder, { recursive: true });
});

it('a replaced file is detected each time, as are later writes to it', async () => {
  // The file was written after time 0, so the watcher reports it as soon as it has started.
  watching(0);
  await eventually('what was written before it began', () => seen > 0);
  for (const content of ['1', '2', '3'])
    await expectSeen(`replaced by ${content}`, () => {
      writeFileSync(at('beside'), content);
      renameSync(at('beside'), at('agents/tools/one.ts'));
    });
  await expectSeen('written', () => writeFileSync(at('agents/tools/one.ts'), '44'));
});

it('an agents/ folder that is removed and restored is detected, as are later changes in it', async () => {
  watching(0);
  await eventually('what was written before it began', () => seen > 0);
  await expectSeen('taken away', () => renameSync(at('agents'), at('elsewhere')));
  await expectSeen('put back', () => renameSync(at('elsewhere'), at('agents')));
  await expectSeen('written', () => writeFileSync(at('agents/tools/one.ts'), '1'));
});

it.each([
  ['shared/later', 'shared/later.ts'],
  ['shared/later.ts', 'shared/later.ts'],
  ['shared/later.js', 'shared/later.ts'],
  ['shared/later.jsx', 'shared/later.tsx'],
  ['shared/later.mjs', 'shared/later.mts'],
  ['shared/later', 'shared/later/index.ts'],
  ['../beside/later.js', '../beside/later.ts'],
])('a file that is imported as %s and missing is detected when %s is created', async (name, path) => {
  const beside = join(at(path), '..');
  if (path.startsWith('..')) mkdirSync(beside, { recursive: true });
  watching(0, [name]);
  await eventually('what was written before it began', () => seen > 0);
  try {
    await expectSeen('created', () => {
      mkdirSync(beside, { recursive: true });
      writeFileSync(at(path), '1');
    });
  } finally {
    if (path.startsWith('..')) rmSync(beside, { recursive: true });
  }
});

it('an old file that was moved to where it is imported, before the watcher began, is detected', async () => {
  writeFileSync(at('old.ts'), '1');
  utimesSync(at('old.ts'), 1, 1);
  const since = Date.now() + 20;
  // The clock of files may be some milliseconds behind.
  await eventually('the rest is older', () => Date.now() > since + 20);
  mkdirSync(at('shared'));
  renameSync(at('old.ts'), at('shared/later.ts'));
  watching(since, ['shared/later']);
  await eventually('the moved file', () => seen > 0);
});

it('a changed .env is told, also if it changes before the watcher begins', async () => {
  const told: string[] = [];
  writeFileSync(at('.env'), 'A=1\n');
  watcher = watchAgents({
    projectDir: folder,
    // A load had begun before.
    since: Date.now() - 60_000,
    files: new Set(),
    changed: async () => undefined,
    unapplied: (file) => told.push(file),
    failed(error) {
      throw error;
    },
  });
  await eventually('the change before', () => told.length > 0);
  expect(told).toEqual(['.env']);
});
