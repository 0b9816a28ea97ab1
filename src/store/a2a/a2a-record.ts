/**
 * Tasks of agents elsewhere that calls of threads have begun: records and their table. Times are microseconds since 1970.
 */

import type { Flag, Json } from '../schema/column.ts';
import type { CallKey } from '../transaction/from-run.ts';

export interface A2aCallKey extends CallKey {
  readonly threadId: string;
}

export interface A2aTaskRecord extends A2aCallKey {
  readonly agent: string;
  readonly contextId: string;
  readonly messageId: string;
  /** JSON value from the agent card when the call began. Null as long as nothing can have been sent. */
  readonly endpoint: unknown;
  /** Null until it is known. */
  readonly taskId: string | null;
  /** Number of its questions that are answered: the agent has received the answers, or may have. */
  readonly answers: number;
  /** True if the task may still run: it must be cancelled once its call is over. */
  readonly open: boolean;
  readonly sentAt: number;
  /** Since when the agent has been unreachable; null if the last attempt reached it. */
  readonly silentSince: number | null;
}

export type BeginA2aTask = Omit<
  A2aTaskRecord,
  'endpoint' | 'taskId' | 'answers' | 'open' | 'sentAt' | 'silentSince'
>;

/** What has become known; absent fields stay unchanged. */
export interface NoteA2aTask extends A2aCallKey {
  readonly endpoint?: unknown;
  readonly taskId?: string;
  readonly answers?: number;
  /** Number of an answer, from 0, that the agent has certainly not received: it must be sent again. */
  readonly unsent?: number;
  /** Set if the task has ended, or was never begun. */
  readonly over?: true;
  /** Whether the agent was reached just now. */
  readonly reached?: boolean;
  /** Set if cancelling failed because the agent was not reached. */
  readonly cancelFailed?: true;
}

/** One row per call. */
export interface A2aTaskTable {
  thread_id: string;
  step: number;
  idx: number;
  /** The agent, by the name of its file. */
  agent: string;
  context_id: string;
  message_id: string;
  /** From the agent card when the call began; JSON null as long as nothing can have been sent. */
  endpoint: Json;
  /** Null until it is known. */
  task_id: string | null;
  /** Number of its questions that are answered: the agent has received the answers, or may have. */
  answers: number;
  /** 1 if the task may still run, as far as is known: it must be cancelled once its call is over. */
  open: Flag;
  sent_at: number;
  /** Since when the agent has been unreachable; null if the last attempt reached it. */
  silent_since: number | null;
  /** Number of failed attempts to cancel it. */
  cancels: number;
}
