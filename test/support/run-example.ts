/**
 * Runs an example of the documentation as a user does: in a separate process and folder, on the tests' server, without
 * an API key.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROGRAM_OPTIONS } from './program-options.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples');

/** Returns the lines of standard output, in order; rejects if the example fails. `path` is relative to examples/. */
export async function runExample(path: string): Promise<string[]> {
  const cwd = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(cwd, { recursive: true });
  const line = [...PROGRAM_OPTIONS, join(EXAMPLES, path)];
  const { stdout } = await promisify(execFile)(process.execPath, line, { cwd });
  return stdout.trim().split('\n');
}
