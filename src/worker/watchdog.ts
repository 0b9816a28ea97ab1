/**
 * Starts the thread that watches this process while its event loop is blocked (watchdog-thread.ts). Only a supervised process
 * is watched: it is ended when it computes without end.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** The data of the thread. */
export interface WatchdogOrder {
  /** Counts the turns of the event loop. */
  readonly beats: SharedArrayBuffer;
  /** 0: an event loop may block for ever. */
  readonly limitMs: number;
  readonly journalFd: number;
  readonly parentPid: number;
}

const BEAT_MS = 200;

export function startWatchdog(order: Omit<WatchdogOrder, 'beats'>): void {
  const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const counter = new Int32Array(beats);
  setInterval(() => Atomics.add(counter, 0, 1), BEAT_MS).unref();
  const thread = new Worker(new URL(`./watchdog-thread${extname(import.meta.url)}`, import.meta.url), {
    name: 'watchdog',
    workerData: { ...order, beats } satisfies WatchdogOrder,
    execArgv: [],
    env: {},
  });
  // Without the thread the process works unwatched.
  thread.on('error', (error) => console.error(`The watchdog thread has ended: ${error.message}`));
  // It runs as long as the process does, and does not keep it alive.
  thread.unref();
}
