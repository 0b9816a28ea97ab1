/** The types of A2A 1.0 on the wire (ProtoJSON), as far as threads use them. */

export const TASK_STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
] as const;

export type TaskState = (typeof TASK_STATES)[number];

/** Has exactly one of `text`, `url` and `data`. */
export interface A2aPart {
  readonly text?: string;
  /** URL of a file. For a file of the thread the projection sets its path; the API replaces that by a signed URL. */
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
  /** The thread's id. */
  readonly contextId: string;
  readonly status: TaskStatus;
  readonly artifacts: readonly A2aArtifact[];
  readonly history: readonly A2aMessage[];
}

/** The task that a frame belongs to. */
interface TaskRef {
  readonly taskId: string;
  readonly contextId: string;
}

/** A frame of a task's stream: one of these. */
export type A2aFrame =
  | { readonly task: A2aTask }
  | { readonly statusUpdate: TaskRef & { readonly status: TaskStatus } }
  | {
      readonly artifactUpdate: TaskRef & {
        readonly artifact: A2aArtifact;
        /** If true, the parts are appended to those sent before; if false, they replace them. */
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

/** True if the task waits for an answer. */
export function isInterrupted(state: TaskState): boolean {
  return state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED';
}

/** Converts microseconds since 1970 to ISO 8601. */
export function toTimestamp(at: number): string {
  return new Date(at / 1000).toISOString();
}

/** Returns the waits that are listed in the message of a task's status. */
export function waitsOf({
  message,
}: TaskStatus): readonly { readonly waitId: string; readonly kind: string }[] {
  const data = (message?.parts ?? []).map((part) => part.data as { waitId?: unknown } | undefined);
  return data.filter((each) => typeof each?.waitId === 'string') as { waitId: string; kind: string }[];
}
