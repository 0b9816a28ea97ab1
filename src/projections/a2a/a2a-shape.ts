/** What A2A 1.0 says on the wire (ProtoJSON), as far as a thread tells it. */

export type TaskState =
  | 'TASK_STATE_SUBMITTED'
  | 'TASK_STATE_WORKING'
  | 'TASK_STATE_INPUT_REQUIRED'
  | 'TASK_STATE_AUTH_REQUIRED'
  | 'TASK_STATE_COMPLETED'
  | 'TASK_STATE_FAILED'
  | 'TASK_STATE_CANCELED'
  | 'TASK_STATE_REJECTED';

/** One of `text`, `url` and `data`. */
export interface A2aPart {
  readonly text?: string;
  /** Of a file of the thread: its path, until a door has made an address of it. */
  readonly url?: string;
  readonly data?: unknown;
  readonly mediaType?: string;
  readonly filename?: string;
}

export interface A2aMessage {
  readonly messageId: string;
  readonly contextId: string;
  readonly taskId: string;
  readonly role: 'ROLE_USER' | 'ROLE_AGENT';
  readonly parts: readonly A2aPart[];
}

export interface A2aArtifact {
  readonly artifactId: string;
  readonly name: string;
  readonly parts: readonly A2aPart[];
}

export interface TaskStatus {
  readonly state: TaskState;
  readonly message?: A2aMessage;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
}

export interface A2aTask {
  /** The execution's id. */
  readonly id: string;
  /** The thread's. */
  readonly contextId: string;
  readonly status: TaskStatus;
  readonly artifacts: readonly A2aArtifact[];
  readonly history: readonly A2aMessage[];
}

/** Whose it is. */
interface OfTask {
  readonly taskId: string;
  readonly contextId: string;
}

/** A frame of a stream: one of these. */
export type A2aFrame =
  | { readonly task: A2aTask }
  | { readonly statusUpdate: OfTask & { readonly status: TaskStatus } }
  | {
      readonly artifactUpdate: OfTask & {
        readonly artifact: A2aArtifact;
        /** Its parts go behind those that were told; else they take their place. */
        readonly append: boolean;
        readonly lastChunk: boolean;
      };
    };

const TERMINAL: ReadonlySet<TaskState> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]);

export function isTerminal(state: TaskState): boolean {
  return TERMINAL.has(state);
}

/** It goes on once somebody has answered. */
export function isInterrupted(state: TaskState): boolean {
  return state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED';
}

/** Microseconds since 1970, as ISO 8601. */
export function toTimestamp(at: number): string {
  return new Date(at / 1000).toISOString();
}

/** What a task waits for, as its status tells it. */
export function waitsOf({
  message,
}: TaskStatus): readonly { readonly waitId: string; readonly kind: string }[] {
  const data = (message?.parts ?? []).map((part) => part.data as { waitId?: unknown } | undefined);
  return data.filter((each) => typeof each?.waitId === 'string') as { waitId: string; kind: string }[];
}
