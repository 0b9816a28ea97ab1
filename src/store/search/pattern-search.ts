/**
 * A search for a pattern that anybody may have written, with a time bound (definitions §22.29).
 * S1. The pattern never runs on the thread of heartbeats: it has one of its own, which is ended when what it has computed
 *     in all passes LIMITS.grepMs, and with the search.
 * S2. At most AT_ONCE searches run in a process; the others wait. A hostile pattern keeps a place for LIMITS.grepMs.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Deferred, defer } from '../../core/value/deferred.ts';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { FoundLines, FromSearchThread, ToSearchThread } from './protocol.ts';

const THREAD = new URL(`./search-thread${extname(import.meta.url)}`, import.meta.url);
const AT_ONCE = 4;
/** A line, its file and what an expression keeps of them; far above what the search itself needs. */
const HEAP_MIB = 128;
const STARTS_WITHIN_MS = 30_000;

export interface PatternSearch {
  /** What is in the file so far given, once `isLast`. Throws `Timeout`. */
  take(data: Uint8Array, isLast: boolean): Promise<FoundLines | null>;
}

/** Runs `work` with a search that may compute for `ms` in all, and ends its thread. */
export async function withPatternSearch<T>(
  pattern: string,
  work: (search: PatternSearch) => Promise<T>,
  { ms = LIMITS.grepMs }: { readonly ms?: number } = {},
): Promise<T> {
  const leave = await enter();
  const thread = new Worker(THREAD, {
    // Neither our own flags, such as a debugger's, nor our environment are any business of it.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  });
  try {
    return await work(await converse(thread, pattern, ms));
  } finally {
    leave();
    await thread.terminate();
  }
}

async function converse(thread: Worker, pattern: string, ms: number): Promise<PatternSearch> {
  let left = STARTS_WITHIN_MS;
  let question: Deferred<FromSearchThread> | undefined;
  let failure: RuntimeError | undefined;
  const fail = (error: RuntimeError) => {
    failure ??= error;
    question?.reject(failure);
  };
  thread.on('message', (answer: FromSearchThread) => question?.resolve(answer));
  thread.on('error', (error) => fail(broken(pattern, errorMessage(error))));
  thread.on('exit', () => fail(broken(pattern, 'its thread ended')));
  const ask = async (message: ToSearchThread): Promise<FromSearchThread> => {
    if (failure) throw failure;
    const asked = performance.now();
    question = defer();
    const timer = setTimeout(() => fail(tooLong(pattern, ms)), left);
    try {
      thread.postMessage(message);
      return await question.promise;
    } finally {
      clearTimeout(timer);
      left = Math.max(1, left - (performance.now() - asked));
    }
  };
  await ask({ kind: 'pattern', pattern });
  // From here on: what it took to start the thread is not the pattern's.
  left = ms;
  return { take: (data, isLast) => ask({ kind: 'chunk', data, isLast }) };
}

function broken(pattern: string, why: string): RuntimeError {
  return new RuntimeError('InvalidValue', `The search for ${show(pattern)} failed: ${why}.`);
}

function tooLong(pattern: string, ms: number): RuntimeError {
  return new RuntimeError(
    'Timeout',
    `The search for ${show(pattern)} computed for ${ms / 1000} seconds and was ended; a pattern with nested repetitions may never come to an end.`,
  );
}

function show(pattern: string): string {
  return JSON.stringify(pattern.length > 100 ? `${pattern.slice(0, 100)}…` : pattern);
}

let running = 0;
const waiting: (() => void)[] = [];

/** Waits for a place, and answers how to leave it. */
async function enter(): Promise<() => void> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  return () => {
    // A place that somebody waits for is handed on.
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };
}
