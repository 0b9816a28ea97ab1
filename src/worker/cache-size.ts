/**
 * How many threads a worker keeps in its cache when nobody says it. One that is not there is replayed from its history when it is next
 * signalled, so the cache trades memory for processor time, and what does not fit ends the process.
 */

/** Of an idle thread, everything that the process holds for it: V8's objects and what the SDK's core keeps. `bench/threads.ts` measures it. */
export const BYTES_OF_A_CACHED_THREAD = 512 * 1024;
/** The rest is for activities, the sandbox's children, and threads at work. */
const SHARE_OF_MEMORY = 1 / 4;
/** Workflow code has a heap of its own, as large as that of the main thread; the garbage collector needs room. */
const SHARE_OF_HEAP = 1 / 2;
const FEWEST = 100;
const MOST = 10_000;

export interface ProcessMemory {
  /** Bytes that the machine, or the container, has. */
  readonly available: number;
  /** Bytes to which V8 lets a heap grow. */
  readonly heapLimit: number;
}

export function cachedThreadsFor({ available, heapLimit }: ProcessMemory): number {
  const bytes = Math.min(available * SHARE_OF_MEMORY, heapLimit * SHARE_OF_HEAP);
  return Math.min(MOST, Math.max(FEWEST, Math.floor(bytes / BYTES_OF_A_CACHED_THREAD)));
}
