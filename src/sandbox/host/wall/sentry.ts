/**
 * A thread of the host that watches the memory of all its sandbox children, whatever the host's main thread is busy
 * with. Every 10 ms it reads the resident set of each child that has a run, and kills one that exceeds its bound.
 * `memory-watch.ts` writes what is to be watched, in the layout of `watch-places.ts`.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { BOUND, PLACE_LENGTH, PROCESS, SIGNAL, TRIPPED, VICTIM } from './watch-places.ts';

const places = (workerData as { places: Int32Array }).places;
const POLL_MS = 10;
const RESTING_MS = 1000;
const VM_RSS = /^VmRSS:\s+(\d+) kB/m;

/** Watched processes by place. An open file keeps referring to its process even if the process id is reused. */
const watched = new Map<number, { readonly pid: number; readonly file: number }>();
const statusBuffer = Buffer.alloc(4096);

for (;;) {
  const signal = Atomics.load(places, SIGNAL);
  let busy = false;
  for (let at = PLACE_LENGTH; at < places.length; at += PLACE_LENGTH) {
    const pid = Atomics.load(places, at + PROCESS);
    const bound = Atomics.load(places, at + BOUND);
    if (watched.get(at)?.pid !== pid) watchProcess(at, pid);
    if (pid === 0 || bound === 0) continue;
    busy = true;
    if (readResident(at) > bound) killVictim(at);
  }
  Atomics.wait(places, SIGNAL, signal, busy ? POLL_MS : RESTING_MS);
}

function watchProcess(at: number, pid: number): void {
  const before = watched.get(at);
  if (before) closeSync(before.file);
  watched.delete(at);
  if (pid === 0) return;
  try {
    watched.set(at, { pid, file: openSync(`/proc/${pid}/status`, 'r') });
  } catch {
    // It has ended.
  }
}

/** Returns KiB; 0 if the process has ended. */
function readResident(at: number): number {
  const one = watched.get(at);
  if (!one) return 0;
  try {
    const size = readSync(one.file, statusBuffer, 0, statusBuffer.length, 0);
    return Number(VM_RSS.exec(statusBuffer.toString('latin1', 0, size))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function killVictim(at: number): void {
  Atomics.store(places, at + TRIPPED, 1);
  Atomics.store(places, at + BOUND, 0);
  try {
    process.kill(Atomics.load(places, at + VICTIM), 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
