/** The example of AgenticX's runtime page, run as a stranger runs it: a process of its own, a real server, no key. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const FILE = join(import.meta.dirname, '..', '..', 'examples', 'agenticx', 'typical-usage.ts');

it('[AX-140] typical usage: a task is run, and comes to its result', async () => {
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(folder, { recursive: true });
  const { stdout } = await promisify(execFile)(process.execPath, [FILE], { cwd: folder });
  expect(stdout.trim().split('\n').slice(-3)).toEqual([
    'task_end',
    'success: true, result: X is well understood.',
    'calls: 2, state: completed',
  ]);
}, 300_000);
