/**
 * The shutdown of a worker in two phases: from the first request on it begins nothing new, and running model calls have
 * until the end of the grace period to finish. After that another worker repeats them.
 */

import type { ThreadStore } from '../store/store.ts';
export interface WorkerShutdown {
  /** Aborts when the shutdown begins. */
  readonly leaving: AbortSignal;
  /** Aborts at the end of the grace period, or with `hurry`; with a grace period of 0, when the shutdown begins. */
  readonly handover: AbortSignal;
  /** Begins the shutdown. Safe to call twice: the first call counts. */
  begin(): void;
  /** Ends the grace period now, and begins the shutdown if it has not begun. */
  hurry(): void;
  /** Stops the timer, once everything is handed over. */
  end(): void;
}

export function openShutdown(graceMs: number): WorkerShutdown {
  const leaving = new AbortController();
  const handover = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const hurry = () => {
    leaving.abort();
    handover.abort();
  };
  return {
    leaving: leaving.signal,
    handover: handover.signal,
    hurry,
    begin() {
      if (leaving.signal.aborted) return;
      leaving.abort();
      if (graceMs === 0) hurry();
      else timer = setTimeout(hurry, graceMs);
    },
    end: () => clearTimeout(timer),
  };
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const STOPS = new Set<() => void>();

function stopAll(): void {
  for (const stop of STOPS) stop();
}

/**
 * Calls `stop` on SIGTERM and SIGINT; returns what ends that. One listener serves all workers of a process, as a
 * program may run dozens.
 */
export function onStopSignal(stop: () => void): () => void {
  if (STOPS.size === 0) for (const signal of SIGNALS) process.on(signal, stopAll);
  STOPS.add(stop);
  return () => {
    STOPS.delete(stop);
    if (STOPS.size === 0) for (const signal of SIGNALS) process.off(signal, stopAll);
  };
}

/**
 * Shuts a worker down when its store is lost: once its files are removed or damaged, all further work would be lost.
 * Running work has its grace period, and `run()` rejects with the store's error: the function that this returns, to be
 * called after the worker's end, throws `StoreLost` or `StoreCorrupt` if the store has ended.
 */
export function endWithStore({ ended }: ThreadStore, shutdown: () => void): () => void {
  ended?.addEventListener('abort', shutdown, { once: true });
  if (ended?.aborted) shutdown();
  return () => {
    ended?.removeEventListener('abort', shutdown);
    ended?.throwIfAborted();
  };
}
