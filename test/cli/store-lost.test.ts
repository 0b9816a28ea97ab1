/** The store is removed or damaged under running commands: each says so with its code, and takes nothing more. */
import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type CliProject, cliProject, HELPER, seen } from './support.ts';

// Most of these start several processes, one after the other.
jest.setTimeout(180_000);

let project: CliProject;

beforeEach(async () => {
  project = await cliProject(HELPER);
});
afterEach(() => project.remove());

const store = () => join(project.folder, 'data', 'store.db');

describe('everthread worker', () => {
  it.each([
    ['StoreLost', 'was removed or replaced', () => rmSync(join(project.folder, 'data'), { recursive: true })],
    ['StoreCorrupt', 'is damaged', () => writeFileSync(store(), '')],
  ])('ends with %s and what to do (%#)', async (code, words, damage) => {
    const worker = project.start(['worker']);
    await seen(worker, 'Worker ready', 120_000);
    const sent = await project.run(['threads', 'start', 'helper', 'hello', '--wait']);
    expect(sent).toMatchObject({ code: 0, stdout: 'You said: hello\n' });
    damage();
    const ended = await worker.ended;
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(`${code}: `);
    expect(ended.stderr).toContain(words);
    expect(ended.stderr).toMatch(/Stop every worker and client/);
  });
});

describe('any command', () => {
  it('says that a file is no store, with what to do', async () => {
    mkdirSync(join(project.folder, 'data'));
    writeFileSync(store(), 'no database at all '.repeat(100));
    const { code, stderr } = await project.run(['threads', 'list']);
    expect(code).toBe(1);
    expect(stderr).toContain('StoreCorrupt: ');
    expect(stderr).toContain('file is not a database');
  });

  it('tells once that .everthread was open to others, and closes it', async () => {
    const folder = join(project.folder, '.everthread');
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    const worker = project.start(['worker']);
    await seen(worker, 'Worker ready', 120_000);
    worker.process.kill('SIGTERM');
    expect((await worker.ended).stderr).toContain('.everthread was open to other users of this machine');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const again = project.start(['worker']);
    await seen(again, 'Worker ready', 120_000);
    again.process.kill('SIGTERM');
    expect((await again.ended).stderr).not.toContain('open to other users');
  });
});
