/**
 * Limits the memory of the whole child from inside, by a separate thread: for systems on which the host cannot inspect
 * processes (all but Linux, where `host/wall/memory-watch.ts` watches from outside).
 */
import { writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { MEMORY_MARK } from '../protocol.ts';

const KIB = 1024;
const SLACK_BYTES = 48 * KIB * KIB;

const bound = new Int32Array(new SharedArrayBuffer(4));

/** Starts the watching thread, whose program is `watchdog`; resolves once it runs. */
export function startWatchdog(watchdog: string): Promise<void> {
  const worker = new Worker(watchdog, {
    workerData: { bound, parent: process.ppid },
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4, codeRangeSizeMb: 16 },
  });
  return new Promise((resolve, reject) => worker.once('online', resolve).once('error', reject));
}

export function guardMemory(limitBytes: number): void {
  const limit = process.memoryUsage.rss() + limitBytes * 1.25 + SLACK_BYTES;
  Atomics.store(bound, 0, Math.ceil(limit / KIB));
  Atomics.notify(bound, 0);
}

export function endMemoryGuard(): void {
  Atomics.store(bound, 0, 0);
}

/** Ends the child if the engine has lost control of an isolate: its thread never wakes again, and exit() would hang. */
export function exitOutOfMemory(): never {
  writeSync(2, `${MEMORY_MARK}\n`);
  return die();
}

/** Lets a child kill itself at once, whatever its threads are busy with. */
export function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The first process of a PID namespace ignores signals from inside it; the trap in abort() ends it anyway.
  process.abort();
}
