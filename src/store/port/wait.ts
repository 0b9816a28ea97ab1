/** Waits (core/wait): what is asked of people before a call, an execution or a thread goes on, and what they answered. */

import type { StoredError } from '../../core/thread/step.ts';
import type { WaitAnswer } from '../../core/wait/answer.ts';
import type { GivenAnswer, WaitKind, WaitOutcome, WaitState } from '../../core/wait/wait.ts';
import type { ToldAction } from './action.ts';

/** Times are microseconds since 1970. */
export interface Wait {
  readonly id: string;
  readonly threadId: string;
  readonly rootId: string;
  readonly kind: WaitKind;
  /** The tool that asks, or what is asked for. */
  readonly name: string;
  /** What is asked, in words. */
  readonly summary: string;
  /** What is shown beside it: JSON. */
  readonly data: unknown;
  /** Of what would be done: an answer for another one is stale. */
  readonly fingerprint: string | null;
  /** It is closed with this execution; null where it outlives executions. */
  readonly executionId: string | null;
  readonly toolCallId: string | null;
  /** The thread does not go on before it is over. */
  readonly blocks: boolean;
  /** As the clock stands: one whose time is up is `expired`. */
  readonly state: WaitState;
  readonly answer: WaitAnswer | null;
  /** Why it was closed. */
  readonly reason: string | null;
  readonly openedAt: number;
  readonly expiresAt: number | null;
  readonly endedAt: number | null;
}

/** The call that waits: the attempt that holds it gives it up with the wait, and another one begins it again. */
export interface WaitingCallKey {
  readonly step: number;
  readonly index: number;
  /** Absent for a call that has not begun: it waits before that. */
  readonly attempt?: string;
}

export interface OpenWait
  extends Pick<Wait, 'id' | 'threadId' | 'kind' | 'name' | 'summary' | 'data' | 'blocks'>,
    Partial<Pick<Wait, 'fingerprint' | 'executionId' | 'toolCallId'>> {
  /** Unique in the thread: the natural key of the command. */
  readonly key: string;
  readonly call?: WaitingCallKey;
  /** What it is to be approved: kept, and told, in the same transaction. */
  readonly action?: ToldAction;
  /** From now on, by the clock of the store; without it the wait does not expire. */
  readonly expiresInMs?: number;
}

export type OpenedWait =
  | { readonly kind: 'open'; readonly wait: Wait }
  /** `news`: it was not known to be over. */
  | { readonly kind: 'over'; readonly wait: Wait; readonly news: boolean }
  /** Another attempt holds the call, or it has a result: nobody waits for an answer. */
  | { readonly kind: 'late' }
  /** The budget could never begin what is to be approved: nobody is asked, and the execution is over. */
  | { readonly kind: 'exceeded'; readonly error: StoredError }
  | { readonly kind: 'terminated' };

export interface AnswerOfWait extends GivenAnswer {
  readonly id: string;
}

/** `misfit`: an answer of another kind is asked for. `wait` is as it is now. */
export type AnsweredWait =
  | { readonly outcome: Exclude<WaitOutcome, 'unknown'>; readonly wait: Wait }
  | { readonly outcome: 'misfit'; readonly reason: string }
  | { readonly outcome: 'unknown' };

/** A wait of a descendant that blocks a thread. */
export type ShownWait = Pick<Wait, 'id' | 'threadId' | 'kind' | 'name'>;

export interface ListWaits {
  /** Of this thread, and those of descendants that block it; where it is the root of its family, all of those that descend from it. */
  readonly threadId?: string;
  /** Open ones unless given. */
  readonly state?: WaitState;
  /** 100 unless given. */
  readonly limit?: number;
}

export interface ForgottenWait {
  readonly id: string;
  readonly threadId: string;
}

/** A thread that waits for a child's report, and shows other waits of descendants than its workflow has read. */
export interface UnseenWait {
  readonly threadId: string;
  readonly childId: string;
}

export interface WaitStore {
  /**
   * Opens a wait, in one transaction with the change of its call from started to asked. The key again answers the wait that is
   * there. Rejects with `InvalidValue` or `LimitExceeded` for data that cannot be kept.
   */
  open(command: OpenWait): Promise<OpenedWait>;
  /** The first answer is kept, and its call is scheduled again in the same transaction. The same answer again changes nothing. */
  answer(command: AnswerOfWait): Promise<AnsweredWait>;
  /** Nobody wants an answer any more. Its call is scheduled again. What is over stays as it is. Null where there is none. */
  close(id: string, reason: string): Promise<Wait | null>;
  get(id: string): Promise<Wait | null>;
  /**
   * What a thread waits for is shown by the ancestors that wait for it, as the store stands now. Answers those, nearest first; whatever
   * comes in between, the same again does no harm.
   */
  showAbove(threadId: string): Promise<readonly string[]>;
  /**
   * The waits of descendants that block the thread now, oldest first; it is shown as `waiting` where there are any. For its own workflow: until the
   * next change it counts as told.
   */
  readShown(threadId: string): Promise<readonly ShownWait[]>;
  /** Oldest first. */
  list(options?: ListWaits): Promise<readonly Wait[]>;
  /** Those that have been over for so long, and whose calls have not begun again. At most 100. */
  listForgotten(olderThanMs: number): Promise<readonly ForgottenWait[]>;
  /** Threads whose `readShown` has been due for so long, the longest first. At most 100. */
  listUnseen(olderThanMs: number): Promise<readonly UnseenWait[]>;
}
