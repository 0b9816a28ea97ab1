/** The part of ThreadState for parent and children, and for the thread's end (definitions §14.3). */

/** `running`, `idle` (its last report was a result), `failed`, `stopped`, `terminated`; or the text that the child has set. */
export type SubagentStatus = string;

/** A resumable child, as its parent sees it (definitions §13.5). */
export interface SubagentRegistryEntry {
  /** The child's thread id. */
  readonly reference: string;
  /** Name, title and description of its agent. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly resumable: boolean;
  readonly blocking: boolean;
  /** Name of the child itself, for display. */
  readonly threadName?: string;
  /** Children made in one step share this id. */
  readonly spawnGroupId?: string;
  /** Microseconds. */
  readonly createdAt: number;
  readonly status: SubagentStatus;
  readonly parentCommunication: 'implicit' | 'explicit';
}

/** `State` is the ThreadState of relatives: the same type that has this part. */
export interface ThreadFamily<State> {
  /** Resumable children, oldest first, terminated ones included; as of the moment in which this code began. */
  readonly children: readonly SubagentRegistryEntry[];
  /**
   * Returns the child's ThreadState, outside of any execution: what it queues is processed by the child. It is a
   * snapshot of the moment of the call, except for changes made through it. The child's values are not accessible:
   * queue a tool to it, or exchange files. Null unless it is a direct child.
   */
  getChildThread(referenceId: string): Promise<State | null>;
  /** Returns the parent's ThreadState, in the same way; null for a root. */
  getParentThread(): Promise<State | null>;
  /** Queues a silent message to the parent. Does nothing without a parent; rejects when `content` is empty. */
  notifyParent(content: string): Promise<void>;
  /** Sets the status that the parent sees. Does nothing without a parent; rejects when it is empty. */
  setStatus(status: string): Promise<void>;
  /** Ends the thread permanently: running work is aborted, queued items refused. Idempotent. Its history stays. */
  terminate(): Promise<void>;
}
