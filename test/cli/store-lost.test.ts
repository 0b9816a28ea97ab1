/**
 * The store is removed or damaged under running commands: each reports that with its code, and accepts no more work.
 */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CliProject, cliProject, HELPER, type Result, seen } from './support.ts';

let project: CliProject;

beforeAll(async () => {
  project = await cliProject(HELPER);
});
afterAll(() => project.remove());

const store = () => join(project.folder, 'data', 'store.db');

describe('any command', () => {
  it('reports a file that is not a store, with a remedy', async () => {
    mkdirSync(join(project.folder, 'data'));
    writeFileSync(store(), 'no database at all '.repeat(100));
    const { code, stderr } = await project.run(['threads', 'list']);
    expect(code).toBe(1);
    expect(stderr).toContain('StoreCorrupt: ');
    expect(stderr).toContain('file is not a database');
    rmSync(join(project.folder, 'data'), { recursive: true });
  });
});

describe('everthread worker', () => {
  const folder = () => join(project.folder, '.everthread');
  const ends: Result[] = [];

  it.each([
    ['StoreLost', 'was removed or replaced', () => rmSync(join(project.folder, 'data'), { recursive: true })],
    ['StoreCorrupt', 'is damaged', () => writeFileSync(store(), '')],
  ])('ends with %s and a remedy (%#)', async (code, words, damage) => {
    if (ends.length === 0) {
      mkdirSync(folder(), { recursive: true });
      chmodSync(folder(), 0o755);
    }
    const env = { EVERTHREAD_TASK_QUEUE: `cli-${randomUUID()}` };
    const worker = project.start(['worker'], env);
    await seen(worker, 'Worker ready', 120_000);
    const sent = await project.run(['threads', 'start', 'helper', 'hello', '--wait'], { env });
    expect(sent).toMatchObject({ code: 0, stdout: 'You said: hello\n' });
    damage();
    const ended = await worker.ended;
    ends.push(ended);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(`${code}: `);
    expect(ended.stderr).toContain(words);
    expect(ended.stderr).toMatch(/Stop every worker and client/);
  });

  it('reports once that .everthread was open to others, and restricts it', () => {
    const told = ends.map(({ stderr }) =>
      stderr.includes('.everthread was accessible to other users of this machine'),
    );
    expect(told).toEqual([true, false]);
    expect(statSync(folder()).mode & 0o777).toBe(0o700);
  });
});
