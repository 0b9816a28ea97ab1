/**
 * The queue's durable half (runtime §9): what is sent to a thread, until a step drains it. (thread, item id) is the key: an item
 * that comes twice counts once, whatever became of the first.
 */
import type { QueueItem, Refusal } from '../../core/thread/item.ts';
import type { PendingWork } from './hook.ts';
import type { FromRun } from './run.ts';
import type { BeginStep } from './step.ts';

export interface SpillItems extends FromRun {
  readonly items: readonly QueueItem[];
  /** Items that the caller has found to be unusable: each becomes an event `item.rejected`. */
  readonly rejections?: readonly Refusal[];
}

export interface QueueOptions {
  /** Queued by code of the thread's own execution: it has no count of steps of its own (core/thread/step-limit.ts, L1). */
  readonly own?: boolean;
  /** The id of the effect whose code queues it: it spends from what the execution had that scheduled the effect. */
  readonly effect?: string;
}

export interface ClaimExecution {
  readonly threadId: string;
  /** The user of the thread, whose ids these are; null where it has none: then they are the store's. */
  readonly userId: string | null;
  readonly item: QueueItem;
}

/** `claimed`: by this item, or by the same content under `itemId`. `conflict`: by another item, for that thread. */
export type ClaimedExecution =
  | { readonly kind: 'claimed'; readonly itemId: string }
  | { readonly kind: 'conflict'; readonly threadId: string };

export interface ExecutionClaim {
  readonly threadId: string;
  readonly itemId: string;
}

export interface QueueStore {
  /** Claims the id of the execution that an item begins, before the item is sent. The same item again changes nothing. */
  claim(command: ClaimExecution): Promise<ClaimedExecution>;
  /** Where items were sent that begin the execution of this id, newest first: each owner has its own. */
  findClaims(executionId: string): Promise<readonly ExecutionClaim[]>;
  /**
   * Moves queued content from the workflow's memory into the store, in order; answers how many items are in line now, 0 on a
   * terminated thread. An item that is nested too deep becomes an event `item.rejected`.
   */
  spill(command: SpillItems): Promise<{ readonly waiting: number }>;
  /** Puts an item where its signal will find it, even before the thread is there. It is not in line yet. */
  stage(threadId: string, item: QueueItem): Promise<void>;
  /** Puts an item in line for code: the thread's own within an execution, or any other. Rejects with `ThreadTerminated`, `ThreadNotFound`. */
  add(threadId: string, item: QueueItem, options?: QueueOptions): Promise<void>;
  /** How many items are in line, whoever put them there. */
  count(threadId: string): Promise<number>;
  /** How many of these items have become messages or were refused. */
  countTaken(threadId: string, itemIds: readonly string[]): Promise<number>;
  /** What `steps.begin` with the same ordinal and items would drain now, for hooks. Rejects with `ThreadNotFound`. */
  readPending(
    query: FromRun &
      Pick<BeginStep, 'ordinal' | 'afterStep' | 'items' | 'twoSides' | 'session' | 'limits'> &
      Partial<Pick<BeginStep, 'executionId'>>,
  ): Promise<PendingWork>;
}
