/**
 * The durable part of the queue (runtime §9): items sent to a thread, until a step drains them. (thread, item id) is
 * the key: an item that arrives twice counts once, even if the first has been drained or refused.
 */
import type { QueueItem, Refusal } from '../../core/thread/item.ts';
import type { PendingWork } from './hook.ts';
import type { FromRun } from './run.ts';
import type { BeginStep } from './step.ts';

export interface SpillItems extends FromRun {
  readonly items: readonly QueueItem[];
  /** Items that the caller has refused; each is logged as `item.rejected`. */
  readonly rejections?: readonly Refusal[];
}

export interface QueueOptions {
  /**
   * True if code of the thread's own execution queues it: it has no step count of its own (core/thread/step-limit.ts,
   * L1).
   */
  readonly own?: boolean;
  /** Id of the effect whose code queues it: it spends from the budgets of the execution that scheduled the effect. */
  readonly effect?: string;
}

export interface ClaimExecution {
  readonly threadId: string;
  /**
   * The user of the thread, who owns the execution id unless the item's context names an organisation; null if the
   * thread has no user: the id is then unique in the store.
   */
  readonly userId: string | null;
  readonly item: QueueItem;
}

/**
 * `claimed`: by this item, or by an item with the same content, `itemId`. `conflict`: by another item, for that thread.
 */
export type ClaimedExecution =
  | { readonly kind: 'claimed'; readonly itemId: string }
  | { readonly kind: 'conflict'; readonly threadId: string };

export interface ExecutionClaim {
  readonly threadId: string;
  readonly itemId: string;
}

/** Whether the answer to an item has reached its client; `unknown`: there is no such item. */
export type Delivery = 'unknown' | 'open' | 'delivered';

export interface QueueStore {
  readDelivery(threadId: string, id: string): Promise<Delivery>;
  /** Records that the answer to a drained item has reached its client. Idempotent. */
  markDelivered(threadId: string, id: string): Promise<void>;
  /** Claims the id of the execution that an item begins, before the item is sent. Idempotent for the same item. */
  claim(command: ClaimExecution): Promise<ClaimedExecution>;
  /** Claims of this execution id, newest first. Each owner may have one. */
  findClaims(executionId: string): Promise<readonly ExecutionClaim[]>;
  /**
   * Moves queued content from the workflow's memory into the store, in order. Returns how many items are queued now, 0
   * on a terminated thread. An item that is nested too deep is logged as `item.rejected`.
   */
  spill(command: SpillItems): Promise<{ readonly waiting: number }>;
  /**
   * Stores an item for its later signal, even before the thread exists. It is not queued by this. Rejects as
   * `requireRepeat`.
   */
  stage(threadId: string, item: QueueItem): Promise<void>;
  /**
   * Rejects with `ItemConflict` if the thread has an item with this id that says or calls something else, also once
   * that has become a message and whatever became of its text.
   */
  requireRepeat(threadId: string, item: QueueItem): Promise<void>;
  /**
   * Queues an item for code: the thread's own within an execution, or any other. Rejects with `ThreadTerminated`,
   * `ThreadNotFound`.
   */
  add(threadId: string, item: QueueItem, options?: QueueOptions): Promise<void>;
  /** Number of queued items, whoever queued them. */
  count(threadId: string): Promise<number>;
  /** Number of these items that have become messages or were refused. */
  countTaken(threadId: string, itemIds: readonly string[]): Promise<number>;
  /**
   * Returns what `steps.begin` with the same ordinal and items would drain now, for hooks. Rejects with
   * `ThreadNotFound`.
   */
  readPending(
    query: FromRun &
      Pick<BeginStep, 'ordinal' | 'afterStep' | 'items' | 'twoSides' | 'session' | 'limits'> &
      Partial<Pick<BeginStep, 'executionId'>>,
  ): Promise<PendingWork>;
}
