/**
 * Several processes that were given the same list of files share it: each file is run by whoever claims it first. So none of them
 * waits while files are left, however long each file takes.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env.EVERTHREAD_TEST_CLAIMS;
// Whatever the tests start has nothing to claim.
delete process.env.EVERTHREAD_TEST_CLAIMS;

/** Whether the file is this process's to run. Without a common folder each is. */
export function claim(path) {
  if (folder === undefined) return true;
  const name = createHash('sha256').update(path).digest('hex');
  try {
    writeFileSync(join(folder, name), path, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}
