/** What crosses Temporal as a run of a thread begins: what the thread is made with, and where the store has it. As in `step.ts`. */
import type { GivenContext } from '../governance/run-context.ts';
import type { Session } from './session.ts';
import type { StoredError, ThreadStatus } from './step.ts';

/** Times from the worker's configuration that the workflow must replay: they arrive with `openThread`. */
export interface Settings {
  readonly historySoftLimit: number;
  readonly modelHeartbeatMs: number;
  readonly toolHeartbeatMs: number;
  /** False where the server lacks our search attributes: setting one would fail the workflow task. */
  readonly searchAttributes: boolean;
}

export interface OpenThreadInput {
  readonly threadId: string;
  readonly agent: string;
  readonly userId: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly parentId: string | null;
  readonly rootId: string;
  /** What the executions of the thread begin with; kept when the thread is made. */
  readonly context?: GivenContext;
  /** Kept when the thread is made. */
  readonly tags?: readonly string[];
  /** The id of the store that this thread has used so far; absent in its first run. */
  readonly storeId?: string;
}

export type OpenThreadOutcome =
  | { readonly kind: 'terminated'; readonly storeId?: string }
  | {
      readonly kind: 'open';
      readonly storeId: string;
      readonly agent: string;
      readonly status: ThreadStatus;
      readonly settings: Settings;
      /** The last step that the workflow knows to have ended; the store may have later ones. */
      readonly afterStep: number;
      readonly turnOpen: boolean;
      readonly waiting: number;
      /** The model that the agent asks first; absent when this worker does not know the agent. */
      readonly model?: string;
      readonly lastError?: StoredError;
      /** Only of an agent with two AI sides. */
      readonly session?: Session;
      /** A report to the parent is stored and not yet delivered. */
      readonly reportDue?: true;
      /** It has had children. */
      readonly parent?: true;
      /** The project has hooks at the end of executions: they are to be told where the thread ends in the store alone. */
      readonly tellsEnd?: true;
      /** The store has children whose workflows have not been started. */
      readonly unstarted?: true;
    };
