/** Texts that are made from the code and checked in, so that a change of them is seen: compared, or written anew. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');

/** `path` is relative to the clone. `EVERTHREAD_WRITE=1 npm test -- <test>` writes the file. */
export function expectCheckedIn(path: string, text: string): void {
  const file = join(ROOT, path);
  if (process.env.EVERTHREAD_WRITE === '1') {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  expect(text).toBe(existsSync(file) ? readFileSync(file, 'utf8') : `${path} is missing`);
}
