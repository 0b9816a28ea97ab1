/** An example of a page, run as a stranger runs it: a process of its own, in a folder of its own, on the tests' server, without a key. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROGRAM_OPTIONS } from './program-options.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples');

/** Its lines, in order; rejects when it fails. `path` is below examples/. */
export async function runExample(path: string): Promise<string[]> {
  const cwd = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(cwd, { recursive: true });
  const line = [...PROGRAM_OPTIONS, join(EXAMPLES, path)];
  const { stdout } = await promisify(execFile)(process.execPath, line, { cwd });
  return stdout.trim().split('\n');
}
