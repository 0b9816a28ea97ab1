/**
 * Limits the memory of whole children while they have runs. The engine's own limit covers only the isolate's heap, and
 * one large allocation or a loop inside a built-in exceeds it; the kernel's figure for the process is reliable. One
 * thread of the host watches all children from outside: they need no thread for it and cannot influence it. Linux only.
 */
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { BOUND, MAX_CHILDREN, PLACE_LENGTH, PROCESS, SIGNAL, TRIPPED, VICTIM } from './watch-places.ts';

const KIB = 1024;
const SLACK_BYTES = 48 * KIB * KIB;
const SENTRY = fileURLToPath(new URL(`./sentry${extname(import.meta.url)}`, import.meta.url));

export interface MemoryWatch {
  /** Sets the limit of a run: `limitBytes`, and what the engine needs, on top of what the child holds now. */
  begin(limitBytes: number): void;
  end(): void;
  /** Resident memory of the child, in bytes. */
  residentBytes(): number;
  /** True if the child was killed for its memory. */
  readonly tripped: boolean;
  /** Frees the child's place; call it when the child has ended. */
  close(): void;
}

let places: Int32Array | undefined;
let sentry: Worker | undefined;

/** Watches `pid`, and kills `victim`. Returns undefined if no more children can be watched. */
export function watchMemory(pid: number, victim: number): MemoryWatch | undefined {
  places ??= new Int32Array(new SharedArrayBuffer(4 * PLACE_LENGTH * (MAX_CHILDREN + 1)));
  const all = places;
  const at = freePlace(all);
  if (at === undefined) return undefined;
  startSentry(all);
  const change = (values: Readonly<Record<number, number>>) => {
    for (const [place, value] of Object.entries(values)) Atomics.store(all, at + Number(place), value);
    Atomics.add(all, SIGNAL, 1);
    Atomics.notify(all, SIGNAL);
  };
  change({ [VICTIM]: victim, [BOUND]: 0, [TRIPPED]: 0, [PROCESS]: pid });
  let tripped = false;
  return {
    begin(limitBytes) {
      const bound = readResident(pid) + limitBytes * 1.25 + SLACK_BYTES;
      startSentry(all);
      change({ [BOUND]: Math.ceil(bound / KIB) });
    },
    end() {
      Atomics.store(all, at + BOUND, 0);
    },
    residentBytes: () => readResident(pid),
    get tripped() {
      return tripped || Atomics.load(all, at + TRIPPED) === 1;
    },
    close() {
      tripped = Atomics.load(all, at + TRIPPED) === 1;
      change({ [BOUND]: 0, [PROCESS]: 0, [TRIPPED]: 0 });
    },
  };
}

function freePlace(all: Int32Array): number | undefined {
  for (let at = PLACE_LENGTH; at < all.length; at += PLACE_LENGTH) {
    if (Atomics.load(all, at + PROCESS) === 0) return at;
  }
  return undefined;
}

/** Starts the watching thread once per process, and again if it ever fails. */
function startSentry(all: Int32Array): void {
  if (sentry) return;
  const started = new Worker(SENTRY, {
    workerData: { places: all },
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4, codeRangeSizeMb: 16 },
  });
  // The thread must not keep this process alive.
  started.unref();
  const forget = () => {
    if (sentry === started) sentry = undefined;
  };
  started.once('error', forget).once('exit', forget);
  sentry = started;
}

function readResident(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * KIB;
  } catch {
    return 0;
  }
}
