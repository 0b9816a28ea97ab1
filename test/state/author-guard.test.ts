/** How a process handles stray faults, and calls that affect the whole process; each test in a separate process. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const SCRIPT = join(import.meta.dirname, '../support/guard-process.ts');

interface Ended {
  readonly code: number | null;
  readonly lines: string[];
  readonly stderr: string;
}

async function play(scenario: string): Promise<Ended> {
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(folder, { recursive: true });
  const child = spawn(process.execPath, [SCRIPT, scenario], {
    env: { ...process.env, NODE_OPTIONS: '', EVERTHREAD_GUARD_FOLDER: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = Promise.withResolvers<number | null>();
  child.once('close', ended.resolve);
  const code = await ended.promise;
  return { code, lines: stdout.trim().split('\n'), stderr };
}

describe('a process that authors share', () => {
  it('ends when we end it, and not when code of an author does', async () => {
    expect(await play('our own exit')).toMatchObject({ code: 7, lines: ['refused: ProcessCallRefused'] });
  });

  it('may be signalled by us alone; whether a process lives may be asked', async () => {
    const refused = Array.from({ length: 5 }, () => 'refused: ProcessCallRefused');
    expect(await play('signals')).toMatchObject({ code: 0, lines: ['allowed', ...refused] });
  });

  it('is not ended by an exit that was kept from before', async () => {
    expect(await play('a kept exit')).toMatchObject({
      code: 0,
      lines: ['refused: ProcessCallRefused', 'the next tick comes'],
    });
  });

  it('ends with a throw that is nobody’s, for what it left half done is not known', async () => {
    expect(await play('an unknown throw')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Uncaught Error: from nowhere\n +at .*guard-process\.ts/),
    });
  });

  it('outlives a rejection that is nobody’s, and tells it', async () => {
    expect(await play('an unknown rejection, alone')).toMatchObject({
      code: 0,
      lines: ['unknown: Error: from nowhere', 'lives'],
    });
  });

  it('follows Node’s own rule for such a rejection where it is somebody else’s', async () => {
    expect(await play('an unknown rejection, as a guest')).toMatchObject({ code: 1, lines: [''] });
  });

  it('leaves what is nobody’s to an application that listens', async () => {
    expect(await play('an application that listens itself')).toMatchObject({
      code: 0,
      lines: ['the application: Error: a rejection', 'the application: Error: a throw', 'lives'],
    });
  });

  it('tells files and lines alone where nobody can take secrets out of the rest', async () => {
    const { code, lines, stderr } = await play('a guard that does not know the thread');
    expect([code, lines]).toEqual([0, ['lives']]);
    expect(stderr).toMatch(
      /^The tool "pay" of thread "t1" failed outside of any awaited call\n +at .*guard-process\.ts/,
    );
    expect(stderr).not.toContain('a secret');
  });

  it('is as before when the last of its guards has ended', async () => {
    expect(await play('two guards')).toMatchObject({
      code: 0,
      lines: ['1', 'refused: ProcessCallRefused', 'as before'],
    });
  });

  it('outlives what an endpoint leaves behind, and tells the server’s own log', async () => {
    const { code, lines } = await play('an endpoint');
    expect(code).toBe(0);
    expect(lines).toHaveLength(5);
    expect(lines).toEqual(
      expect.arrayContaining([
        'floating true',
        'late true',
        'lives',
        expect.stringMatching(/^ProcessCallRefused: .* true$/),
        expect.stringMatching(/^{"error":"ProcessCallRefused: .*","code":"ProcessCallRefused"}$/),
      ]),
    );
  });
});
