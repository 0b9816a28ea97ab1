/** What a program with a face writes to standard error, in a process of its own. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';

const PROGRAM = join(import.meta.dirname, '..', 'support', 'face-process.ts');

async function run(log?: string, ...more: readonly string[]) {
  const store = `sqlite:${join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID())}.db?synchronous=normal`;
  const { EVERTHREAD_LOG: _, ...inherited } = process.env;
  const env = { ...inherited, NODE_OPTIONS: '', ...(log === undefined ? {} : { EVERTHREAD_LOG: log }) };
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [...PROGRAM_OPTIONS, PROGRAM, store, ...more],
    { env },
  );
  return { said: stdout.trim(), lines: stderr.split('\n').filter(Boolean) };
}

describe('a program with a face', () => {
  it('writes nothing to standard error unless something is wrong', async () => {
    expect(await run()).toEqual({ said: 'completed 0', lines: [] });
  }, 60_000);

  it('logs at the level of EVERTHREAD_LOG', async () => {
    const { said, lines } = await run('info');
    expect(said).toBe('completed 0');
    expect(lines.filter((line) => line.includes('[INFO]')).length).toBeGreaterThan(3);
    expect(lines.filter((line) => line.includes('[DEBUG]'))).toEqual([]);
  }, 60_000);

  it('logs lines of JSON if EVERTHREAD_LOG says so', async () => {
    const entries = (await run('info,json')).lines.map((line) => JSON.parse(line));
    expect(entries.length).toBeGreaterThan(3);
    for (const entry of entries)
      expect(entry).toMatchObject({ time: expect.stringMatching(/^\d{4}-.*Z$/), level: 'info' });
  }, 60_000);

  it('refuses a level that does not exist', async () => {
    await expect(run('loud')).rejects.toMatchObject({
      stderr: expect.stringContaining('EVERTHREAD_LOG is "loud"'),
    });
  }, 60_000);

  it('keeps the logger of a runtime that it has installed itself, also after its last connection has ended', async () => {
    const { said, lines } = await run('info', 'own');
    expect(lines).toEqual([]);
    expect(Number(/^completed (\d+)$/.exec(said)?.[1])).toBeGreaterThan(3);
  }, 60_000);
});
