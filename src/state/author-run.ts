/**
 * Which of the author's code runs in this process, and for which piece of it the present turn of the event loop works: what lets
 * a stray rejection, a process exit or an endless loop be told as the fault of one tool of one thread.
 * R1. A run is known from before its first line until its awaited body has settled; what it left behind (a timer, a promise)
 *     still answers `currentAuthorRun`, because the async context goes along with it.
 * R2. Listeners hear begin and end synchronously: what dies right after `begin` has been told.
 * R3. Code that other code of an author calls belongs to the same work, on whichever thread of the family it writes.
 * R4. What the code threw can be looked at by whoever catches it: a proxy whose traps throw must not throw there.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { toReadable } from '../core/value/thrown.ts';

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
  /** Empty where no thread is concerned, as while a project is loaded. */
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

/** Runs the author's code under its name. Its outcome is the body's, whatever that is. */
export async function runAuthorCode<T>(asked: AuthorRun, body: () => T | Promise<T>): Promise<T> {
  const around = context.getStore();
  // R3: code within code of the same work.
  const run = around ? { ...asked, threadId: around.threadId, work: around.work } : asked;
  running.add(run);
  for (const listener of listeners) listener.begin(run);
  try {
    return await context.run(run, body);
  } catch (error) {
    // R4: a throwing proxy.
    throw toReadable(error);
  } finally {
    running.delete(run);
    for (const listener of listeners) listener.end(run);
  }
}

/** Modules of a project while they are loaded: no work of any thread, so known by their context alone, and to no listener. */
export function asProjectCode<T>(load: () => T): T {
  return context.run({ code: 'project', name: 'definitions', threadId: '', work: '' }, load);
}

/** The run that this turn of the event loop works for, also after its body has settled; undefined for our own code. */
export function currentAuthorRun(): AuthorRun | undefined {
  return context.getStore();
}

/** Oldest first. */
export function runningAuthorRuns(): readonly AuthorRun[] {
  return [...running];
}

/** Answers what ends the listening. */
export function listenToAuthorRuns(listener: AuthorRunListener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
