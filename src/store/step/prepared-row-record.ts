/** Queued rows for hooks (definitions §9): before a step drains them, and as modified by hooks. */

import type { Side } from '../../core/author/thread-execution.ts';
import type { RunContext } from '../../core/governance/run-context.ts';
import type { Message } from '../../core/message/message.ts';
import type { SideSteps } from '../../core/thread/session.ts';
import type { ThreadRecord } from '../thread/thread-record.ts';

/** A row that a step is about to drain. */
export interface PendingRow {
  readonly id: string;
  /**
   * The message as it would be stored; files that a sender named are still paths. Null if it will be refused, because
   * its id is taken.
   */
  readonly message: PendingMessage | null;
}

export interface PendingMessage extends Omit<Message, 'attachments'> {
  readonly attachments: readonly (string | NonNullable<Message['attachments']>[number])[] | null;
}

/** Absent fields keep the queued value. */
export interface PreparedRow
  extends Partial<Pick<Message, 'content' | 'silent' | 'metadata' | 'attachments'>> {
  readonly id: string;
  readonly role?: 'user' | 'assistant' | 'system';
}

export interface PendingWork {
  /** The thread, with the agent that has it from this step on. */
  readonly thread: ThreadRecord;
  /** True if `after_thread_created` has run, or must not run. */
  readonly greeted: boolean;
  /**
   * Rows in the order in which they are drained. Empty if a step has already begun under this ordinal, or one must be
   * taken over.
   */
  readonly rows: readonly PendingRow[];
  /** Null if the step begins an execution. */
  readonly executionId: string | null;
  /** The execution that these rows begin, if they name one. */
  readonly nextExecutionId?: string;
  /** Number of model steps of that execution. */
  readonly stepCount: number;
  readonly sideSteps: SideSteps;
  /** The side that will act, unless hooks change the role of the first message. */
  readonly side: Side;
  /** True if a limit forbids the step: nothing would be drained. */
  readonly limited: boolean;
  /** Scratch data of the execution. */
  readonly scratch: Readonly<Record<string, unknown>>;
  /** Run context that the execution would have, including what the rows add; null if none was given. */
  readonly runContext: RunContext | null;
}
