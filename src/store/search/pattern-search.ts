/**
 * Searches for an untrusted pattern, with a time limit (definitions §22.29).
 * - The pattern never runs on the thread that sends heartbeats. It has a separate thread, which is ended with the
 *   search, or when its computing time in all exceeds LIMITS.grepMs.
 * - At most MAX_CONCURRENT searches run in a process; others wait. A hostile pattern keeps its place for LIMITS.grepMs.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Deferred, defer } from '../../core/value/deferred.ts';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { FoundLines, FromSearchThread, ToSearchThread } from './protocol.ts';

const THREAD_URL = new URL(`./search-thread${extname(import.meta.url)}`, import.meta.url);
const MAX_CONCURRENT = 4;
/** Room for a line, its file and what an expression keeps of them; far above what the search itself needs. */
const HEAP_MIB = 128;
const START_TIMEOUT_MS = 30_000;

export interface PatternSearch {
  /**
   * Searches a piece of a file. Returns what was found in the file with its last piece (`isLast`), else null. Throws
   * `Timeout`.
   */
  take(data: Uint8Array, isLast: boolean): Promise<FoundLines | null>;
}

/** Runs `work` with a search that may compute for `ms` milliseconds in all, and ends its thread afterwards. */
export async function withPatternSearch<T>(
  pattern: string,
  work: (search: PatternSearch) => Promise<T>,
  { ms = LIMITS.grepMs }: { readonly ms?: number } = {},
): Promise<T> {
  const leave = await acquireSlot();
  const thread = new Worker(THREAD_URL, {
    // The thread gets neither our own flags, such as a debugger's, nor our environment.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  });
  try {
    return await work(await openSearch(thread, pattern, ms));
  } finally {
    leave();
    await thread.terminate();
  }
}

async function openSearch(thread: Worker, pattern: string, ms: number): Promise<PatternSearch> {
  let left = START_TIMEOUT_MS;
  let question: Deferred<FromSearchThread> | undefined;
  let failure: RuntimeError | undefined;
  const fail = (error: RuntimeError) => {
    failure ??= error;
    question?.reject(failure);
  };
  thread.on('message', (answer: FromSearchThread) => question?.resolve(answer));
  thread.on('error', (error) => fail(searchFailed(pattern, errorMessage(error))));
  thread.on('exit', () => fail(searchFailed(pattern, 'its thread ended')));
  const ask = async (message: ToSearchThread): Promise<FromSearchThread> => {
    if (failure) throw failure;
    const asked = performance.now();
    question = defer();
    const timer = setTimeout(() => fail(searchTimeout(pattern, ms)), left);
    try {
      thread.postMessage(message);
      return await question.promise;
    } finally {
      clearTimeout(timer);
      left = Math.max(1, left - (performance.now() - asked));
    }
  };
  await ask({ kind: 'pattern', pattern });
  // The limit counts from here: the time to start the thread is not charged to the pattern.
  left = ms;
  return { take: (data, isLast) => ask({ kind: 'chunk', data, isLast }) };
}

function searchFailed(pattern: string, why: string): RuntimeError {
  return new RuntimeError('InvalidValue', `The search for ${show(pattern)} failed: ${why}.`);
}

function searchTimeout(pattern: string, ms: number): RuntimeError {
  return new RuntimeError(
    'Timeout',
    `The search for ${show(pattern)} was stopped after ${ms / 1000} seconds; a pattern with nested repetitions may never finish.`,
  );
}

function show(pattern: string): string {
  return JSON.stringify(pattern.length > 100 ? `${pattern.slice(0, 100)}…` : pattern);
}

let running = 0;
const waiting: (() => void)[] = [];

/** Waits for a place; returns a function that gives it up. */
async function acquireSlot(): Promise<() => void> {
  if (running >= MAX_CONCURRENT) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  return () => {
    // If another search waits, the place passes to it.
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };
}
