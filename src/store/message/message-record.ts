/**
 * Messages (definitions §14.2, §15), and the durable part of the queue (runtime §9): items sent to a thread, until a step
 * drains them. (thread, item id) is the key: an item that arrives twice counts once, even if the first has been drained
 * or refused. Attachments of messages given here are already files of the thread. Writes of messages reject with
 * `ThreadTerminated`, `ThreadNotFound`.
 */
import type { QueueItem, Refusal } from '../../core/thread/item.ts';
import type { JsonSchema } from '../../core/value/json-schema.ts';
import type { Json } from '../schema/column.ts';
import type { BeginStep } from '../step/step-record.ts';
import type { FromRun } from '../transaction/from-run.ts';

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

/** What `steps.begin` with the same ordinal and items would drain. */
export interface ReadPending
  extends FromRun,
    Pick<BeginStep, 'ordinal' | 'afterStep' | 'items' | 'twoSides' | 'session' | 'rules'>,
    Partial<Pick<BeginStep, 'executionId'>> {}

export interface SentContentTable {
  thread_id: string;
  id: string;
  content: Json;
  /** Microseconds since 1970. */
  created_at: number;
}

/** The new text of a user's message. Its metadata is merged into what is there. */
export interface EditedMessage {
  readonly content: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Files of the thread, in place of the earlier ones. */
  readonly attachments?: readonly string[];
}

export interface SupersedeTail {
  readonly threadId: string;
  /** Id of the request: given again, it changes nothing, and returns the same. */
  readonly id: string;
  /**
   * The user's message to answer again, or an answer, or the id of an execution: then the message that it answers. Absent: the
   * newest.
   */
  readonly messageId?: string | undefined;
  readonly edited?: EditedMessage | undefined;
  /** The type of the new answer; null: none. Absent: that of the superseded execution. */
  readonly output?: JsonSchema | null | undefined;
  /** What becomes of effects and children of the tail: `end` by default. */
  readonly tail?: 'end' | 'keep' | undefined;
  /** True to go on although outcomes are unknown. */
  readonly acknowledge?: boolean | undefined;
}

export interface SupersededTail {
  /** The user's message that is in line again. */
  readonly messageId: string;
  /** Number of the event in the log: the new answer begins behind it. */
  readonly seq: number;
  /** Number of messages that were superseded. */
  readonly messages: number;
  /** Children to terminate. */
  readonly ended: readonly string[];
}
