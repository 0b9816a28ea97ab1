/** Reads and writes for hooks (definitions §9): what a step is about to drain, and what hooks ask once it is stored. */
import type { Message } from '../../core/message.ts';
import type { SideSteps } from '../../core/session.ts';
import type { FlowDirective, Side } from '../../core/thread-execution.ts';
import type { FromRun } from './run.ts';
import type { BeginStep } from './step.ts';
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
  /** In the order in which they are drained. None where a step was begun under this ordinal already. */
  readonly rows: readonly PendingRow[];
  /** Null where the step begins an execution. */
  readonly executionId: string | null;
  /** Model steps of that execution. */
  readonly stepCount: number;
  readonly sideSteps: SideSteps;
  /** Who will act, unless hooks change the role of the first message. */
  readonly side: Side;
  /** Its scratch. */
  readonly scratch: Readonly<Record<string, unknown>>;
}

export interface KeepFlow extends FromRun {
  readonly step: number;
  /** The index of a tool call; absent for the step itself. */
  readonly index?: number;
  readonly directive?: FlowDirective;
  /** The execution's scratch, JSON text. */
  readonly context?: string;
}

export interface HookStore {
  /** What `beginStep` with the same ordinal and items would drain now. */
  readPending(
    query: FromRun & Pick<BeginStep, 'ordinal' | 'items' | 'twoSides' | 'session'>,
  ): Promise<PendingWork>;
  /** `after_thread_created` has run. */
  markGreeted(threadId: string): Promise<void>;
  /** What hooks asked once their step, or their call's result, was stored. Where they asked nothing, nothing is written. */
  keepFlow(command: KeepFlow): Promise<void>;
}
