/**
 * A thread for work on untrusted input, such as a pattern that may never end: only ending its thread stops it.
 * - It is ended with the work, or when its computing time in all exceeds the limit.
 * - At most MAX_CONCURRENT run in a process; others wait. Hostile input keeps its place for the limit.
 */
import { Worker } from 'node:worker_threads';
import { type Deferred, defer } from '../../core/value/deferred.ts';
import { errorMessage, type RuntimeError } from '../../core/value/error.ts';

const MAX_CONCURRENT = 4;
/** Room for a line, its file and what an expression keeps of them; far above what the work itself needs. */
const HEAP_MIB = 128;
const START_TIMEOUT_MS = 30_000;

export interface ThreadTerms<Ask> {
  /** The file that it runs: it answers each message with one, in order. */
  readonly url: URL;
  /** Answered before its time counts. */
  readonly first: Ask;
  /** Milliseconds that it may compute. */
  readonly ms: number;
  readonly failed: (why: string) => RuntimeError;
  readonly timedOut: () => RuntimeError;
}

/** Throws `failed` or `timedOut`. */
export type AskThread<Ask, Answer> = (message: Ask) => Promise<Answer>;

export async function withBoundedThread<Ask, Answer, T>(
  terms: ThreadTerms<Ask>,
  work: (ask: AskThread<Ask, Answer>) => Promise<T>,
): Promise<T> {
  const leave = await acquireSlot();
  const thread = new Worker(terms.url, {
    // The thread gets neither our own flags, such as a debugger's, nor our environment.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  });
  try {
    return await work(await open<Ask, Answer>(thread, terms));
  } finally {
    leave();
    await thread.terminate();
  }
}

async function open<Ask, Answer>(
  thread: Worker,
  { first, ms, failed, timedOut }: ThreadTerms<Ask>,
): Promise<AskThread<Ask, Answer>> {
  let left = START_TIMEOUT_MS;
  let question: Deferred<Answer> | undefined;
  let failure: RuntimeError | undefined;
  const fail = (error: RuntimeError) => {
    failure ??= error;
    question?.reject(failure);
  };
  thread.on('message', (answer: Answer) => question?.resolve(answer));
  thread.on('error', (error) => fail(failed(errorMessage(error))));
  thread.on('exit', () => fail(failed('its thread ended')));
  const ask = async (message: Ask): Promise<Answer> => {
    if (failure) throw failure;
    const asked = performance.now();
    question = defer();
    const timer = setTimeout(() => fail(timedOut()), left);
    try {
      thread.postMessage(message);
      return await question.promise;
    } finally {
      clearTimeout(timer);
      left = Math.max(1, left - (performance.now() - asked));
    }
  };
  await ask(first);
  // The limit counts from here: the time to start the thread is not charged to its input.
  left = ms;
  return ask;
}

let running = 0;
const waiting: (() => void)[] = [];

/** Waits for a place; returns a function that gives it up. */
async function acquireSlot(): Promise<() => void> {
  if (running >= MAX_CONCURRENT) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  return () => {
    // If other work waits, the place passes to it.
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };
}
