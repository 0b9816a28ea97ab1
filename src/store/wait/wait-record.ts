/**
 * Waits (core/wait): what is asked of people before a call, an execution or a thread goes on, and what they answered.
 * Times are microseconds since 1970.
 */

import type { StoredError } from '../../core/thread/step.ts';
import type { WaitAnswer } from '../../core/wait/answer.ts';
import type { GivenAnswer, WaitKind, WaitOutcome, WaitState } from '../../core/wait/wait.ts';
import type { ActionRecord, DecidedAction } from '../action/action-record.ts';
import type { Flag, Json } from '../schema/column.ts';

/** Times are microseconds since 1970. */
export interface Wait {
  readonly id: string;
  readonly threadId: string;
  readonly rootId: string;
  readonly kind: WaitKind;
  /** The tool that asks, or what is asked for. */
  readonly name: string;
  /** The question, in words. */
  readonly summary: string;
  /** JSON that is shown beside the question. */
  readonly data: unknown;
  /** Fingerprint of what would be done: an answer given for another fingerprint is stale. */
  readonly fingerprint: string | null;
  /** The execution that closes the wait when it ends; null if the wait outlives executions. */
  readonly executionId: string | null;
  readonly toolCallId: string | null;
  /** True if the thread does not continue before the wait is over. */
  readonly blocks: boolean;
  /** State at the present time: a wait past its time is `expired`. */
  readonly state: WaitState;
  readonly answer: WaitAnswer | null;
  /** Why it was closed. */
  readonly reason: string | null;
  readonly openedAt: number;
  readonly expiresAt: number | null;
  readonly endedAt: number | null;
}

/**
 * The call that waits. The attempt that holds it gives it up when the wait opens; another attempt begins it again
 * afterwards.
 */
interface WaitingCallKey {
  readonly step: number;
  readonly index: number;
  /** Absent for a call that waits before it has begun. */
  readonly attempt?: string;
}

export interface OpenWait
  extends Pick<Wait, 'id' | 'threadId' | 'kind' | 'name' | 'summary' | 'data' | 'blocks'>,
    Partial<Pick<Wait, 'fingerprint' | 'executionId' | 'toolCallId'>> {
  /** Unique in the thread; the idempotency key of the command. */
  readonly key: string;
  readonly call?: WaitingCallKey;
  /** The action to be approved; stored and logged in the same transaction. */
  readonly action?: DecidedAction;
  /** Milliseconds from now, by the clock of the store; without it the wait does not expire. */
  readonly expiresInMs?: number;
}

export type OpenedWait =
  | { readonly kind: 'open'; readonly wait: Wait }
  /** `news`: true if its end had not been returned before. */
  | { readonly kind: 'over'; readonly wait: Wait; readonly news: boolean }
  /** Another attempt holds the call, or it has a result: no wait was opened. */
  | { readonly kind: 'late' }
  /** The budget can never begin what would be approved: no wait was opened, and the execution is over. */
  | { readonly kind: 'exceeded'; readonly error: StoredError }
  | { readonly kind: 'terminated' };

export interface AnswerWait extends GivenAnswer {
  readonly id: string;
}

/** `misfit`: the wait requires another kind of answer. `wait`: its present state. */
export type AnsweredWait =
  | { readonly outcome: Exclude<WaitOutcome, 'unknown'>; readonly wait: Wait }
  | { readonly outcome: 'misfit'; readonly reason: string }
  | { readonly outcome: 'unknown' };

/** A wait of a descendant that blocks a thread. */
export type ShownWait = Pick<Wait, 'id' | 'threadId' | 'kind' | 'name'>;

export interface ListWaits {
  /**
   * Waits of this thread, and those of descendants that block it; for the root of a family, those of all descendants.
   */
  readonly threadId?: string;
  /** Default `open`. */
  readonly state?: WaitState;
  /** Only waits that were opened before this time, in microseconds since 1970. */
  readonly openedBefore?: number;
  /** By the time when it was opened; default `asc`. */
  readonly order?: 'asc' | 'desc';
  /** Default 100. */
  readonly limit?: number;
}

export interface ForgottenWait {
  readonly id: string;
  readonly threadId: string;
}

/**
 * A thread that waits for a child's report, and whose workflow has not read which waits of descendants it shows now.
 */
export interface UnreadWait {
  readonly threadId: string;
  readonly childId: string;
}

export type ReconciledAction =
  /** `wait`: the wait that asked for the reconciliation; it is over now. */
  | { readonly kind: 'reconciled'; readonly action: ActionRecord; readonly wait?: Wait }
  /** The action was not uncertain and is unchanged. */
  | { readonly kind: 'certain'; readonly action: ActionRecord }
  | { readonly kind: 'unknown' };

/** Kept as long as the content of its thread: the first answer is the one in its row. */
export interface WaitTable {
  id: string;
  thread_id: string;
  root_id: string;
  /** Unique in its thread: opening the same key again finds the existing wait. */
  key: string;
  kind: WaitKind;
  name: string;
  summary: string;
  data: Json;
  fingerprint: string | null;
  /** The execution that closes the wait when it ends; null if the wait outlives executions. */
  execution_id: string | null;
  /** The call that waits. */
  step: number | null;
  idx: number | null;
  tool_call_id: string | null;
  /** 1 if the thread does not continue before the wait is over. */
  blocks: Flag;
  state: WaitState;
  answer: Json | null;
  /** Why it is over without an answer. */
  reason: string | null;
  opened_at: number;
  expires_at: number | null;
  ended_at: number | null;
  /** 1 once the waiting call, step or task has continued, or an approval for one call of code was used up. */
  heard: Flag;
}

/** Waits of descendants that block a thread, as long as they are open. */
export interface ShownWaitTable {
  /** The ancestor. */
  thread_id: string;
  wait_id: string;
}

export interface WaitTables {
  waits: WaitTable;
  shown_waits: ShownWaitTable;
}
