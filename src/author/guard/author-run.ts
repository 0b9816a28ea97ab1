/**
 * Tracks which author code runs in this process, and which code the current turn of the event loop belongs to. So a
 * stray rejection, a process exit or an endless loop can be attributed to one tool of one thread.
 * - A run is listed from before its first line until its awaited body has settled. What it leaves behind (a timer, a
 *   promise) is still found by `currentAuthorRun`, because it keeps the async context.
 * - Listeners are called synchronously at begin and end. So even code that crashes right after `begin` is reported.
 * - Author code that other author code calls belongs to the same work, whichever thread of the family it writes to.
 * - A thrown value is made safe to inspect: a proxy whose traps throw must not throw where it is caught.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { toReadable } from '../../core/value/thrown.ts';

export type AuthorCode =
  | 'tool'
  | 'hook'
  | 'effect'
  | 'endpoint'
  | 'model'
  | 'policy'
  | 'task'
  | 'subprompt'
  | 'run_code'
  | 'project';

export interface AuthorRun {
  readonly code: AuthorCode;
  /** The name of the tool, the hook, the effect … */
  readonly name: string;
  /** Empty if the code runs for no thread, as while a project is loaded. */
  readonly threadId: string;
  /** The key of the work that it belongs to, such as one tool call or one model step; the same in every attempt. */
  readonly work: string;
}

export interface AuthorRunListener {
  begin(run: AuthorRun): void;
  end(run: AuthorRun): void;
}

const context = new AsyncLocalStorage<AuthorRun>();
const running = new Set<AuthorRun>();
const listeners = new Set<AuthorRunListener>();

/** Runs author code as a listed run. Resolves or rejects as the body does. */
export async function runAuthorCode<T>(asked: AuthorRun, body: () => T | Promise<T>): Promise<T> {
  const around = context.getStore();
  // Nested code belongs to the same work.
  const run = around ? { ...asked, threadId: around.threadId, work: around.work } : asked;
  running.add(run);
  for (const listener of listeners) listener.begin(run);
  try {
    return await context.run(run, body);
  } catch (error) {
    // Replaces a proxy that throws.
    throw toReadable(error);
  } finally {
    running.delete(run);
    for (const listener of listeners) listener.end(run);
  }
}

/**
 * Runs the loading of a project's modules. It belongs to no thread, so it has only an async context and no listeners.
 */
export function asProjectCode<T>(load: () => T): T {
  return context.run({ code: 'project', name: 'definitions', threadId: '', work: '' }, load);
}

/**
 * Returns the run that this turn of the event loop belongs to, even after its body has settled; undefined for the
 * engine's own code.
 */
export function currentAuthorRun(): AuthorRun | undefined {
  return context.getStore();
}

/** Oldest first. */
export function runningAuthorRuns(): readonly AuthorRun[] {
  return [...running];
}

/** Returns a function that removes the listener. */
export function listenToAuthorRuns(listener: AuthorRunListener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
