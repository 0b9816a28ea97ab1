/**
 * Prevents author code from ending or signalling the process that it shares with all threads, and from changing its
 * working directory. Code outside of any author run calls the original functions.
 * P1. The functions are replaced both as properties of `process` and as imports from `node:process`.
 * P2. A refused call throws. So the body ends with a coded error, as with any error of its own.
 */
import { syncBuiltinESMExports } from 'node:module';
import { RuntimeError } from '../../core/value/error.ts';
import { type AuthorRun, currentAuthorRun } from './author-run.ts';

type AnyFunction = (...given: unknown[]) => unknown;

const CALLS = ['exit', 'reallyExit', 'abort', 'kill', 'chdir'] as const;
type Call = (typeof CALLS)[number];

/** Replaces the functions. Returns a function that restores them. */
export function refuseProcessCalls(): () => void {
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
  // P1: as property and as import.
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
