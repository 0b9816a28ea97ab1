/**
 * A thread that watches its own process, whatever the main thread is busy with: it kills the process if its memory
 * exceeds the run's bound, or if the parent has died.
 */
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { MEMORY_MARK } from '../protocol.ts';

const { bound, parent } = workerData as { bound: Int32Array; parent: number };
const POLL_MS = 10;
const RESTING_MS = 250;
const KIB = 1024;

for (;;) {
  const limitKib = Atomics.load(bound, 0);
  if (limitKib > 0 && process.memoryUsage.rss() / KIB > limitKib) {
    writeSync(2, `${MEMORY_MARK}\n`);
    process.kill(process.pid, 'SIGKILL');
  }
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
  Atomics.wait(bound, 0, limitKib, limitKib > 0 ? POLL_MS : RESTING_MS);
}
