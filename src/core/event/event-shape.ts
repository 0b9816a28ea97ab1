/** Fields that several kinds of events have (event-data.ts). */
import type { LineLimit } from '../governance/budget-line.ts';
import type { WaitKind } from '../wait/wait.ts';

/** Set for a step of a sub-prompt; absent for the thread's own. */
export interface InSubprompt {
  readonly depth?: number;
}

export interface NamedCall {
  readonly name: string;
  readonly callId: string;
}

export interface NamedAction {
  /** The call's idempotency key: the same for each attempt of the same call. */
  readonly actionId: string;
  readonly name: string;
}

export interface NamedEffect {
  readonly id: string;
  readonly name: string;
}

/** `name`: of the tool that asks, or of what is asked for. `callId`: of that tool's call. `threadId`: of the descendant that waits, if its wait blocks this thread too. */
export interface NamedWait {
  readonly waitId: string;
  readonly kind: WaitKind;
  readonly name: string;
  readonly callId?: string;
  readonly threadId?: string;
}

export interface NamedFile {
  readonly path: string;
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
}

/** Stack of an error in author code: frames of the project's own files, without secrets. Shown by `threads show --debug`. */
export interface WithStack {
  readonly stack?: string;
}

/** One limit of the budget of an execution. */
export interface BudgetLineOf {
  readonly executionId: string;
  readonly threadId?: string;
  readonly limit: LineLimit;
  readonly max: number;
  /** Name of the author's policy that decided this; `reason` says why. */
  readonly policy?: string;
  readonly reason?: string;
}
