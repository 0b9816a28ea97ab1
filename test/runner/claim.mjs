/**
 * Lets several processes share one list of files: the first process to claim a file runs it. None of them waits while
 * files are left, however long each file takes. A process may be limited to a number of files.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { EVERTHREAD_TEST_CLAIMS: folder, EVERTHREAD_TEST_CLAIMS_AT_MOST: atMost } = process.env;
// Processes that tests start must not claim files.
delete process.env.EVERTHREAD_TEST_CLAIMS;
delete process.env.EVERTHREAD_TEST_CLAIMS_AT_MOST;
let left = Number(atMost ?? Number.POSITIVE_INFINITY);

/** True if this process must run the file; always true without a common folder. */
export function claim(path) {
  if (folder === undefined) return true;
  if (left === 0) return false;
  const name = createHash('sha256').update(path).digest('hex');
  try {
    writeFileSync(join(folder, name), path, { flag: 'wx' });
    left -= 1;
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}
