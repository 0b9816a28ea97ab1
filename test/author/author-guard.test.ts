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

describe('a process shared with author code', () => {
  it('exits when the runtime ends it, and not when author code does', async () => {
    expect(await play('our own exit')).toMatchObject({ code: 7, lines: ['refused: ProcessCallRefused'] });
  });

  it('may be signalled by the runtime only; checking whether a process lives is allowed', async () => {
    const refused = Array.from({ length: 5 }, () => 'refused: ProcessCallRefused');
    expect(await play('signals')).toMatchObject({ code: 0, lines: ['allowed', ...refused] });
  });

  it('is not ended by an exit function saved earlier', async () => {
    expect(await play('a kept exit')).toMatchObject({
      code: 0,
      lines: ['refused: ProcessCallRefused', 'the next tick comes'],
    });
  });

  it('ends with an unattributed throw, since its state is unknown', async () => {
    expect(await play('an unknown throw')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Uncaught Error: from nowhere\n +at .*guard-process\.ts/),
    });
  });

  it('survives an unattributed rejection, and logs it', async () => {
    expect(await play('an unknown rejection, alone')).toMatchObject({
      code: 0,
      lines: ['unknown: Error: from nowhere', 'lives'],
    });
  });

  it('follows Node’s own rule for such a rejection as a guest of another application', async () => {
    expect(await play('an unknown rejection, as a guest')).toMatchObject({ code: 1, lines: [''] });
  });

  it('leaves unattributed errors to an application that listens for them', async () => {
    expect(await play('an application that listens itself')).toMatchObject({
      code: 0,
      lines: ['the application: Error: a rejection', 'the application: Error: a throw', 'lives'],
    });
  });

  it('logs only files and lines if secrets cannot be redacted from the rest', async () => {
    const { code, lines, stderr } = await play('a guard that does not know the thread');
    expect([code, lines]).toEqual([0, ['lives']]);
    expect(stderr).toMatch(
      /^The tool "pay" of thread "t1" failed outside of any awaited call\n +at .*guard-process\.ts/,
    );
    expect(stderr).not.toContain('a secret');
  });

  it('is restored when the last of its guards ends', async () => {
    expect(await play('two guards')).toMatchObject({
      code: 0,
      lines: ['1', 'refused: ProcessCallRefused', 'as before'],
    });
  });

  it('survives errors left behind by an endpoint, and logs them in the server', async () => {
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
