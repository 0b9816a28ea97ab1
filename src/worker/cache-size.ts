/**
 * The default number of threads that a worker caches. A thread that is not cached is replayed from its history when it
 * is next signalled, so the cache trades memory for processor time; if it is too large, the process runs out of memory.
 */

/** Memory per idle cached thread: V8's objects and what the SDK's core keeps. `bench/threads.ts` measures it. */
export const BYTES_OF_A_CACHED_THREAD = 512 * 1024;
/** Share of the memory for the cache; the rest is for activities, the sandbox's children, and running threads. */
const SHARE_OF_MEMORY = 1 / 4;
/** Share of the workflow code's own heap, as large as the main thread's; the rest is for garbage collection. */
const SHARE_OF_HEAP = 1 / 2;
const MIN_THREADS = 100;
const MAX_THREADS = 10_000;

export interface ProcessMemory {
  /** Memory of the machine, or of the container, in bytes. */
  readonly available: number;
  /** V8's limit for the size of a heap, in bytes. */
  readonly heapLimit: number;
}

export function cachedThreadsFor({ available, heapLimit }: ProcessMemory): number {
  const bytes = Math.min(available * SHARE_OF_MEMORY, heapLimit * SHARE_OF_HEAP);
  return Math.min(MAX_THREADS, Math.max(MIN_THREADS, Math.floor(bytes / BYTES_OF_A_CACHED_THREAD)));
}
