/** A store whose path cannot be used: refused with what to check, by each command, at once. */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import { type CliProject, cliProject } from './support.ts';

let project: CliProject;

beforeAll(async () => {
  project = await cliProject({ 'agents/agents/_none.ts': '', 'notes.txt': '' });
  mkdirSync(join(project.folder, 'folder'));
});
afterAll(() => project.remove());

const STARTS = [['worker'], ['api', '--port', '0'], ['threads', 'start', 'helper', 'Hello', '--later']];

describe('a store', () => {
  it.each([
    ['below a file', 'sqlite:notes.txt/store.db', 'notes.txt'],
    // There Node's own way to create folders never ends.
    ['below /proc', 'sqlite:/proc/none/store.db', '/proc/none'],
    ['that is a folder', 'sqlite:folder', 'folder'],
  ])('%s is refused by each command that would create it', async (_where, EVERTHREAD_STORE, path) => {
    for (const args of STARTS) {
      const { code, stderr } = await project.run(args, { env: { EVERTHREAD_STORE }, alone: true });
      expect(stderr).toMatch(
        /^InvalidConfiguration: The store \S+ cannot be opened: .*Check the path in EVERTHREAD_STORE/m,
      );
      expect(stderr).toContain(path);
      expect(code).toBe(2);
    }
  });

  it('below a file is not called missing by a command that reads', async () => {
    const env = { EVERTHREAD_STORE: 'sqlite:notes.txt/store.db' };
    const { code, stderr } = await project.run(['threads', 'list'], { env });
    expect(stderr).toMatch(/^InvalidConfiguration: The store \S+ cannot be opened: ENOTDIR/);
    expect(code).toBe(2);
  });

  it.each(['synchronous=maybe', 'sync=normal'])(
    'with the parameter %s is refused, and not created',
    async (query) => {
      await expect(openStore(`sqlite:other.db?${query}`, project.folder)).rejects.toMatchObject({
        code: 'InvalidConfiguration',
        message: `The store's address ends with "?${query}": only ?synchronous=normal or ?synchronous=full may stand there.`,
      });
      expect(readdirSync(project.folder)).not.toContain('other.db');
    },
  );
});

describe('a path that a command writes to', () => {
  it('is named if nothing can be written there', async () => {
    const { code, stderr } = await project.run(['new', '/proc/none/project'], { alone: true });
    expect(stderr).toContain(
      "InvalidConfiguration: A path cannot be used: ENOENT: no such file or directory, mkdir '/proc/none'",
    );
    expect(code).toBe(2);
  });
});
