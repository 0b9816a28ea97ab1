/**
 * Why a worker process has ended, and whose fault that is: decided from how it ended, what it told, and what it had been asked.
 * D1. Whoever was killed from outside (SIGKILL of an operator or of the kernel, a signal to go) is nobody's fault.
 * D2. Of a process that fell by itself the culprit is known where its watchdog has named one. Else everything that it was running is
 *     suspect, and nothing more than that.
 * D3. One that was never ready has refused to start, and would do so again; and so would one that says it.
 */
import type { Stall, Unit } from './journal.ts';

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Whether it has ever been ready; a process before it of the same supervisor counts. */
  readonly ready: boolean;
  /** The supervisor asked it to go. */
  readonly asked: boolean;
  /** Somebody else told it to go, and it said so. */
  readonly leaving: boolean;
  /** It has met what no start mends, such as a store that is lost, and said so. */
  readonly refusing: boolean;
  readonly running: readonly Unit[];
  readonly stall?: Stall;
}

export type Death =
  | { readonly kind: 'asked' }
  | { readonly kind: 'refused'; readonly exitCode: number }
  | { readonly kind: 'outside'; readonly how: string }
  | {
      readonly kind: 'own';
      readonly how: string;
      readonly culprit?: Unit;
      readonly suspects: readonly Unit[];
    };

/** Signals that no process sends itself by falling. */
const FROM_OUTSIDE: readonly string[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'];

export function readDeath(end: ProcessEnd): Death {
  const { code, signal, ready, asked, leaving, refusing, running, stall } = end;
  if (stall) return fromStall(stall, running);
  if (asked) return { kind: 'asked' };
  if (!ready || refusing) return { kind: 'refused', exitCode: code ?? 1 };
  const how = describeEnd(end);
  // Code 0 alone says nothing: whatever it ran may have ended it so.
  if (leaving || (signal !== null && FROM_OUTSIDE.includes(signal))) return { kind: 'outside', how };
  return { kind: 'own', how, suspects: running };
}

/** The watchdog kills it with SIGKILL, after it has told. */
function fromStall({ forMs, culprit }: Stall, running: readonly Unit[]): Death {
  const how = `its event loop had not turned for ${Math.round(forMs)} ms of computing`;
  return culprit ? { kind: 'own', how, culprit, suspects: [] } : { kind: 'own', how, suspects: running };
}

export function describeEnd({ code, signal }: Pick<ProcessEnd, 'code' | 'signal'>): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}
