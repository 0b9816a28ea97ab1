/** Queued rows for hooks (definitions §9): as a step is about to drain them, and as hooks have made them. */

import type { Side } from '../../core/author/thread-execution.ts';
import type { RunContext } from '../../core/governance/run-context.ts';
import type { Message } from '../../core/message/message.ts';
import type { SideSteps } from '../../core/thread/session.ts';
import type { ThreadRecord } from './thread.ts';

/** A row that a step is about to drain. */
export interface PendingRow {
  readonly id: string;
  /** The message as it would be stored; files that a sender named are still paths. Null where it will be refused: its id is taken. */
  readonly message: PendingMessage | null;
}

export interface PendingMessage extends Omit<Message, 'attachments'> {
  readonly attachments: readonly (string | NonNullable<Message['attachments']>[number])[] | null;
}

/** Fields that are absent are as they were queued. */
export interface PreparedRow
  extends Partial<Pick<Message, 'content' | 'silent' | 'metadata' | 'attachments'>> {
  readonly id: string;
  readonly role?: 'user' | 'assistant' | 'system';
}

export interface PendingWork {
  /** With the agent that has the thread from this step on. */
  readonly thread: ThreadRecord;
  /** `after_thread_created` has run, or was never to run. */
  readonly greeted: boolean;
  /** In the order in which they are drained. None where a step was begun under this ordinal already, or one is to be taken over. */
  readonly rows: readonly PendingRow[];
  /** Null where the step begins an execution. */
  readonly executionId: string | null;
  /** The execution that these rows begin, where they name one. */
  readonly nextExecutionId?: string;
  /** Model steps of that execution. */
  readonly stepCount: number;
  readonly sideSteps: SideSteps;
  /** Who will act, unless hooks change the role of the first message. */
  readonly side: Side;
  /** A limit forbids the step: nothing would be drained. */
  readonly limited: boolean;
  /** Its scratch. */
  readonly scratch: Readonly<Record<string, unknown>>;
  /** What it would run with, with what the rows bring; null where nobody has given anything. */
  readonly runContext: RunContext | null;
}
