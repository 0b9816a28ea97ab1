/**
 * Decides why a worker process ended and what caused it, from its exit, its journal, and whether it was asked to end.
 * - A process killed from outside (SIGKILL by an operator or the kernel, a termination signal) has no culprit.
 * - If a process crashed by itself, the culprit is the unit that its watchdog named, if any. Otherwise every unit
 *   that it was running is a suspect, and none is a culprit.
 * - A process that was never ready, or reported that it refuses, is not restarted: it would fail again.
 */
import type { Stall, Unit } from './journal.ts';

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** True if this process, or an earlier one of the same supervisor, was ever ready. */
  readonly ready: boolean;
  /** True if the supervisor asked the process to end. */
  readonly asked: boolean;
  /** True if the process reported (message `leaving`) that something else asked it to end. */
  readonly leaving: boolean;
  /** True if the process reported (message `refusing`) that no restart can help, for instance if the store is lost. */
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

/** Signals that come from outside and are never caused by a fault of the process. */
const OUTSIDE_SIGNALS: readonly string[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'];

export function readDeath(end: ProcessEnd): Death {
  const { code, signal, ready, asked, leaving, refusing, running, stall } = end;
  if (stall) return fromStall(stall, running);
  if (asked) return { kind: 'asked' };
  if (!ready || refusing) return { kind: 'refused', exitCode: code ?? 1 };
  const how = describeEnd(end);
  // Exit code 0 alone proves nothing: author code may have exited with it.
  if (leaving || (signal !== null && OUTSIDE_SIGNALS.includes(signal))) return { kind: 'outside', how };
  return { kind: 'own', how, suspects: running };
}

/** The watchdog kills its process with SIGKILL, after it has written to the journal. */
function fromStall({ forMs, culprit }: Stall, running: readonly Unit[]): Death {
  const how = `its event loop was blocked for ${Math.round(forMs)} ms of CPU time`;
  return culprit ? { kind: 'own', how, culprit, suspects: [] } : { kind: 'own', how, suspects: running };
}

export function describeEnd({ code, signal }: Pick<ProcessEnd, 'code' | 'signal'>): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}
