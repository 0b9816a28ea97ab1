/**
 * Several processes that were given the same list of files share it: each file is run by whoever claims it first. So none of them
 * waits while files are left, however long each file takes. A process may have been told how many files it takes at most.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { EVERTHREAD_TEST_CLAIMS: folder, EVERTHREAD_TEST_CLAIMS_AT_MOST: atMost } = process.env;
// Whatever the tests start has nothing to claim.
delete process.env.EVERTHREAD_TEST_CLAIMS;
delete process.env.EVERTHREAD_TEST_CLAIMS_AT_MOST;
let left = Number(atMost ?? Number.POSITIVE_INFINITY);

/** Whether the file is this process's to run. Without a common folder each is. */
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
