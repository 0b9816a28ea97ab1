/**
 * Starts the thread that monitors the event loop of this process (watchdog-thread.ts), and kills the process if that
 * computes endlessly. Only supervised processes have one.
 */

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { errorMessage } from '../core/value/thrown.ts';

/** The data of the thread. */
export interface WatchdogOrder {
  /** Counts the turns of the event loop. */
  readonly beats: SharedArrayBuffer;
  /** Milliseconds of computing after which a blocked event loop counts as endless; 0: no limit. */
  readonly limitMs: number;
  readonly journalFd: number;
  readonly parentPid: number;
}

const BEAT_INTERVAL_MS = 200;

export function startWatchdog(order: Omit<WatchdogOrder, 'beats'>): void {
  const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const counter = new Int32Array(beats);
  setInterval(() => Atomics.add(counter, 0, 1), BEAT_INTERVAL_MS).unref();
  const thread = new Worker(new URL(`./watchdog-thread${extname(import.meta.url)}`, import.meta.url), {
    name: 'watchdog',
    workerData: { ...order, beats } satisfies WatchdogOrder,
    execArgv: [],
    env: {},
  });
  // If the thread fails, the process continues without a watchdog.
  thread.on('error', (error) => console.error(`The watchdog thread has ended: ${errorMessage(error)}`));
  // The thread runs as long as the process does, and does not keep it alive.
  thread.unref();
}
