/**
 * Keeps the process alive when code of an author fails where nobody awaits it: a floating promise, a timer that throws after
 * its call has ended, an event without a listener. What one tool does is felt by its thread alone.
 * G1. A rejection or a throw whose async context names an author's code is told, and the process lives: what was cut off is
 *     that code, on its own stack, and nothing of ours was half done.
 * G2. A rejection of unknown origin is told as an error. The process lives where it is ours (`alone`): a rejected promise has
 *     left its function in order, and ending the process would make the outcome of every tool that runs in it unknown.
 *     In an application of somebody else's Node's own rule holds, which is to end.
 * G3. A throw of unknown origin out of a callback ends the process as it does without us: what it has left half done cannot be
 *     known, and no thread is to go on with that.
 * G4. Where the application listens itself, what we do not know is its own to judge.
 * G5. One run is heard so many times, and no more: a loop of floating promises must not fill logs and stores.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { LIMITS } from '../core/value/limit.ts';
import { errorMessage, errorStack } from '../core/value/thrown.ts';
import { framesOf } from './author-fault.ts';
import { type AuthorRun, currentAuthorRun } from './author-run.ts';
import { refuseProcessCalls } from './process-calls.ts';

export type StrayKind = 'rejection' | 'throw';

export interface StrayFault {
  readonly kind: StrayKind;
  readonly run: AuthorRun;
  readonly thrown: unknown;
  /** No more is told of this run. */
  readonly last: boolean;
}

export interface AuthorGuard {
  /** Whether the process is ours: it then outlives rejections of unknown origin (G2). */
  readonly alone: boolean;
  /** Answers whether it knew the thread; guards are asked until one does. Must not throw. */
  stray(fault: StrayFault): Promise<boolean>;
  /** A rejection outside of any author's async context. Must not throw. */
  unknown(reason: unknown): void;
}

const guards = new Set<AuthorGuard>();
/** What we do about a fault is no code of the author's. */
let outside: <T>(act: () => T) => T = (act) => act();
let uninstall: (() => void) | undefined;

/** One set of listeners for all workers and servers of a process. Answers what ends this guard. */
export function guardAuthorCode(guard: AuthorGuard): () => void {
  guards.add(guard);
  uninstall ??= install();
  return () => {
    if (!guards.delete(guard) || guards.size > 0) return;
    uninstall?.();
    uninstall = undefined;
  };
}

function install(): () => void {
  const allow = refuseProcessCalls();
  outside = AsyncLocalStorage.snapshot();
  process.on('unhandledRejection', onRejection);
  process.on('uncaughtException', onThrow);
  return () => {
    process.off('unhandledRejection', onRejection);
    process.off('uncaughtException', onThrow);
    allow();
  };
}

function onRejection(reason: unknown): void {
  const run = currentAuthorRun();
  const ours = [...guards].find(({ alone }) => alone);
  if (run) tellStray('rejection', run, reason);
  // G4: the application judges itself.
  else if (process.listenerCount('unhandledRejection') > 1) return;
  // G2: told as an error.
  else if (ours) ours.unknown(reason);
  else die(reason);
}

function onThrow(thrown: unknown, origin: NodeJS.UncaughtExceptionOrigin): void {
  const run = currentAuthorRun();
  if (run) tellStray(origin === 'unhandledRejection' ? 'rejection' : 'throw', run, thrown);
  // G4: the application judges itself.
  else if (process.listenerCount('uncaughtException') > 1) return;
  // G3: the process ends.
  else die(thrown);
}

function die(thrown: unknown): never {
  process.stderr.write(`Uncaught ${errorStack(thrown) ?? errorMessage(thrown)}\n`);
  process.exit(1);
}

const told = new WeakMap<AuthorRun, { count: number; readonly since: number }>();

function tellStray(kind: StrayKind, run: AuthorRun, thrown: unknown): void {
  const count = countTold(run);
  // G5: heard so many times.
  if (count > LIMITS.strayFaults) return;
  void outside(() => ask({ kind, run, thrown, last: count === LIMITS.strayFaults }));
}

/** G5: heard so many times. What modules of a project have opened lives as long as the worker: it is heard again after a while. */
function countTold(run: AuthorRun): number {
  const now = performance.now();
  const before = told.get(run);
  const over = run.threadId === '' && before !== undefined && now - before.since > LIMITS.strayPauseMs;
  const entry = before && !over ? before : { count: 0, since: now };
  told.set(run, entry);
  entry.count += 1;
  return entry.count;
}

async function ask(fault: StrayFault): Promise<void> {
  for (const guard of guards) if (await guard.stray(fault)) return;
  const { code, name, threadId } = fault.run;
  const frames = framesOf(errorStack(fault.thrown) ?? '');
  process.stderr.write(
    `The ${code} "${name}" of thread "${threadId}" failed where nobody awaits it\n${frames}\n`,
  );
}
