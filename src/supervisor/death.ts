/**
 * Why a worker process ended, and what caused it: decided from its exit, its journal, and what had been asked of it.
 * D1. A process killed from outside (SIGKILL by an operator or the kernel, a termination signal) has no culprit.
 * D2. When a process fell by itself the culprit is known where its watchdog named one. Otherwise all that it was running is
 *     suspect, and no more than that.
 * D3. A process that was never ready has refused to start, and would again; the same if its message says so.
 */
import type { Stall, Unit } from './journal.ts';

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Whether it was ever ready; an earlier process of the same supervisor counts. */
  readonly ready: boolean;
  /** The supervisor asked it to end. */
  readonly asked: boolean;
  /** Something else told it to end, and its message said so. */
  readonly leaving: boolean;
  /** Its message said that no restart can help, for instance because the store is lost. */
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

/** Signals that a process does not raise by a fault of its own. */
const FROM_OUTSIDE: readonly string[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'];

export function readDeath(end: ProcessEnd): Death {
  const { code, signal, ready, asked, leaving, refusing, running, stall } = end;
  if (stall) return fromStall(stall, running);
  if (asked) return { kind: 'asked' };
  if (!ready || refusing) return { kind: 'refused', exitCode: code ?? 1 };
  const how = describeEnd(end);
  // Exit code 0 alone proves nothing: author code may have exited with it.
  if (leaving || (signal !== null && FROM_OUTSIDE.includes(signal))) return { kind: 'outside', how };
  return { kind: 'own', how, suspects: running };
}

/** The watchdog kills its process with SIGKILL, after it has written to the journal. */
function fromStall({ forMs, culprit }: Stall, running: readonly Unit[]): Death {
  const how = `its event loop had not turned for ${Math.round(forMs)} ms of computing`;
  return culprit ? { kind: 'own', how, culprit, suspects: [] } : { kind: 'own', how, suspects: running };
}

export function describeEnd({ code, signal }: Pick<ProcessEnd, 'code' | 'signal'>): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}
