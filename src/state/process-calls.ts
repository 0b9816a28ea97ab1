/**
 * What code of an author may not do to the process that it shares with every other thread: end it, signal it, or move it to
 * another folder. Code of ours, which runs under no author's name, calls the same functions as before.
 * P1. `process.exit` is kept as the property of `process` and as the import of `node:process`.
 * P2. Refused by a throw: the body ends with a coded error, as by any throw of its own.
 */
import { syncBuiltinESMExports } from 'node:module';
import { RuntimeError } from '../core/value/error.ts';
import { type AuthorRun, currentAuthorRun } from './author-run.ts';

type AnyFunction = (...given: unknown[]) => unknown;

const CALLS = ['exit', 'reallyExit', 'abort', 'kill', 'chdir'] as const;
type Call = (typeof CALLS)[number];

/** Answers what ends the refusing. */
export function refuseProcessCalls(): () => void {
  const restores = CALLS.map((call) => {
    const original: unknown = Reflect.get(process, call);
    if (typeof original !== 'function') return () => undefined;
    let active = true;
    const refusing: AnyFunction = (...given) => {
      const run = active ? currentAuthorRun() : undefined;
      if (run && concernsUs(call, given)) {
        if (call === 'reallyExit') keepWorking();
        throw refusal(run, call);
      }
      return Reflect.apply(original, process, given);
    };
    Reflect.set(process, call, refusing);
    return () => {
      active = false;
      // Somebody may have put another over ours.
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

/** Whoever kept `process.exit` from before we came has made Node believe in the end: no `nextTick` would run again. */
function keepWorking(): void {
  Object.assign(process, { _exiting: false, exitCode: undefined });
}

/** A tool may signal processes that it started. Signal 0 only asks; groups, and zero, are or may be ours. */
function concernsUs(call: Call, [pid, signal]: readonly unknown[]): boolean {
  if (call !== 'kill') return true;
  const number = Number(pid);
  return signal !== 0 && (number <= 0 || number === process.pid || number === process.ppid);
}

function refusal({ code, name }: AuthorRun, call: Call): RuntimeError {
  const what = call === 'reallyExit' ? 'exit' : call;
  return new RuntimeError(
    'ProcessCallRefused',
    `ProcessCallRefused: The ${code} "${name}" called process.${what}, which would concern every thread of this worker. ` +
      'End the body by a return or a throw; start a process of your own for what needs one.',
  );
}
