/**
 * Keeps the process alive if author code fails where nothing awaits it: a floating promise, a timer that throws after
 * its call has ended, an event without a listener. Only the thread of that code is affected.
 * - A rejection or throw whose async context names author code is reported, and the process continues. It has
 *   interrupted only that code, on its own stack, and none of the engine's work.
 * - A rejection of unknown origin is reported as an error. The process continues if it belongs to the engine
 *   (`alone`): a rejected promise leaves no function half done, and ending the process would make the outcome of
 *   every running tool unknown. In another application's process, Node's own rule applies: the process ends.
 * - A throw of unknown origin from a callback ends the process, as it would without this guard. What it has left half
 *   done is unknown, and no thread may continue with that.
 * - If the application has its own listeners, faults of unknown origin are left to it.
 * - Each run reports a limited number of faults: a loop of floating promises must not fill logs and stores.
 *
 * Prevents author code from ending or signalling the process that it shares with all threads, and from changing its
 * working directory. Code outside of any author run calls the original functions.
 * - The functions are replaced both as properties of `process` and as imports from `node:process`.
 * - A refused call throws. So the body ends with a coded error, as with any error of its own.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { errorMessage, errorStack } from '../../core/value/thrown.ts';
import { framesOf } from './author-fault.ts';
import { type AuthorRun, currentAuthorRun } from './author-run.ts';

export type StrayKind = 'rejection' | 'throw';

export interface StrayFault {
  readonly kind: StrayKind;
  readonly run: AuthorRun;
  readonly thrown: unknown;
  /** True if no further fault of this run is reported. */
  readonly last: boolean;
}

export interface AuthorGuard {
  /** True if the process belongs to the engine: it then survives rejections of unknown origin. */
  readonly alone: boolean;
  /** Reports a fault. Resolves to true if it knew the thread; guards are called until one does. Must not throw. */
  stray(fault: StrayFault): Promise<boolean>;
  /** Reports a rejection outside of any author code's async context. Must not throw. */
  unknown(reason: unknown): void;
}

const guards = new Set<AuthorGuard>();
/** Runs the handling of a fault outside of the author code's async context. */
let runOutside: <T>(act: () => T) => T = (act) => act();
let uninstall: (() => void) | undefined;

/** Installs a guard, and returns a function that removes it. All guards of a process share one set of listeners. */
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
  runOutside = AsyncLocalStorage.snapshot();
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
  if (run) handleStray('rejection', run, reason);
  else if (process.listenerCount('unhandledRejection') > 1) return;
  else if (ours) ours.unknown(reason);
  else exitUncaught(reason);
}

function onThrow(thrown: unknown, origin: NodeJS.UncaughtExceptionOrigin): void {
  const run = currentAuthorRun();
  if (run) handleStray(origin === 'unhandledRejection' ? 'rejection' : 'throw', run, thrown);
  else if (process.listenerCount('uncaughtException') > 1) return;
  else exitUncaught(thrown);
}

function exitUncaught(thrown: unknown): never {
  process.stderr.write(`Uncaught ${errorStack(thrown) ?? errorMessage(thrown)}\n`);
  process.exit(1);
}

const faultCounts = new WeakMap<AuthorRun, { count: number; readonly since: number }>();

function handleStray(kind: StrayKind, run: AuthorRun, thrown: unknown): void {
  const count = countFault(run);
  if (count > LIMITS.strayFaults) return;
  void runOutside(() => askGuards({ kind, run, thrown, last: count === LIMITS.strayFaults }));
}

/**
 * Counts the faults of a run. Code of a project's modules runs as long as the worker, so its count restarts after
 * LIMITS.strayPauseMs.
 */
function countFault(run: AuthorRun): number {
  const now = performance.now();
  const before = faultCounts.get(run);
  const over = run.threadId === '' && before !== undefined && now - before.since > LIMITS.strayPauseMs;
  const entry = before && !over ? before : { count: 0, since: now };
  faultCounts.set(run, entry);
  entry.count += 1;
  return entry.count;
}

async function askGuards(fault: StrayFault): Promise<void> {
  for (const guard of guards) if (await guard.stray(fault)) return;
  const { code, name, threadId } = fault.run;
  const frames = framesOf(errorStack(fault.thrown) ?? '');
  process.stderr.write(
    `The ${code} "${name}" of thread "${threadId}" failed outside of any awaited call\n${frames}\n`,
  );
}

type AnyFunction = (...given: unknown[]) => unknown;

const CALLS = ['exit', 'reallyExit', 'abort', 'kill', 'chdir'] as const;
type Call = (typeof CALLS)[number];

/** Replaces the functions. Returns a function that restores them. */
function refuseProcessCalls(): () => void {
  const restores = CALLS.map((call) => {
    const original: unknown = Reflect.get(process, call);
    if (typeof original !== 'function') return () => undefined;
    let active = true;
    const refusing: AnyFunction = (...given) => {
      const run = active ? currentAuthorRun() : undefined;
      if (run && affectsOwnProcess(call, given)) {
        if (call === 'reallyExit') undoExit();
        throw refusal(run, call);
      }
      return Reflect.apply(original, process, given);
    };
    Reflect.set(process, call, refusing);
    return () => {
      active = false;
      // Not restored if other code has replaced the function since.
      if (Reflect.get(process, call) === refusing) Reflect.set(process, call, original);
    };
  });
  // As property and as import.
  syncBuiltinESMExports();
  return () => {
    for (const restore of restores) restore();
    syncBuiltinESMExports();
  };
}

/** Resets what an original `process.exit`, kept by some code, has set: otherwise no `nextTick` would run again. */
function undoExit(): void {
  Object.assign(process, { _exiting: false, exitCode: undefined });
}

/**
 * True if the call affects this process. A tool may signal processes that it started, and send signal 0, which only
 * checks a process; pid 0 and process groups (below 0) may include this process.
 */
function affectsOwnProcess(call: Call, [pid, signal]: readonly unknown[]): boolean {
  if (call !== 'kill') return true;
  const number = Number(pid);
  return signal !== 0 && (number <= 0 || number === process.pid || number === process.ppid);
}

function refusal({ code, name }: AuthorRun, call: Call): RuntimeError {
  const what = call === 'reallyExit' ? 'exit' : call;
  return new RuntimeError(
    'ProcessCallRefused',
    `ProcessCallRefused: The ${code} "${name}" called process.${what}, which would affect every thread of this worker. ` +
      'End the code with a return or a throw; if it needs a process, start a separate one.',
  );
}
