/** The part of ThreadState that knows parent, children, and the thread's end (definitions §14.3). */
import type { ThreadState } from './thread-state.ts';

/** `running`, `idle` (its last report was a result), `failed`, `stopped`, `terminated`; or what the child has said of itself. */
export type SubagentStatus = string;

/** A resumable child, as its parent knows it (definitions §13.5). */
export interface SubagentRegistryEntry {
  /** The child's thread id. */
  readonly reference: string;
  /** Of its agent. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly resumable: boolean;
  readonly blocking: boolean;
  /** The name that it was given, for people. */
  readonly threadName?: string;
  /** The same for children of one step. */
  readonly spawnGroupId?: string;
  /** Microseconds. */
  readonly createdAt: number;
  readonly status: SubagentStatus;
  readonly parentCommunication: 'implicit' | 'explicit';
}

export interface ThreadFamily {
  /** Resumable children, oldest first, terminated ones included; a snapshot of the moment in which this code began. */
  readonly children: readonly SubagentRegistryEntry[];
  /** A ThreadState at rest: what it queues is the child's work. Null unless it is a direct child. */
  getChildThread(referenceId: string): Promise<ThreadState | null>;
  getParentThread(): Promise<ThreadState | null>;
  /** Queues a silent message to the parent. Nothing happens without one; rejects when `content` is empty. */
  notifyParent(content: string): Promise<void>;
  /** The status that the parent sees. Nothing happens without one; rejects when it is empty. */
  setStatus(status: string): Promise<void>;
  /**
   * Ends the thread for ever: work under way is aborted, what waits is refused. Idempotent. Its history stays readable.
   */
  terminate(): Promise<void>;
}
