/** Which changes of a project `dev` detects, however they are made. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from '@jest/globals';
import { type Watcher, watchAgents } from '../../src/cli/project/watch-agents.ts';
import { eventually } from '../support/eventually.ts';

let folder: string;
let watcher: Watcher;
let seen = 0;

const at = (path: string) => join(folder, path);
const watching = (since: number) => {
  watcher = watchAgents({
    projectDir: folder,
    since,
    files: new Set(),
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
