/**
 * What crosses Temporal as a run of a thread begins: the thread's creation input, and its state in the store. As in
 * `step.ts`: ids, names, flags.
 */
import type { GivenContext } from '../governance/run-context.ts';
import type { Session } from './session.ts';
import type { StoredError, ThreadStatus } from './step.ts';

/** Times from the worker's configuration that the workflow must replay: they arrive with `openThread`. */
export interface Settings {
  readonly historySoftLimit: number;
  readonly modelHeartbeatMs: number;
  readonly toolHeartbeatMs: number;
  /** Limits of the loop of a step's activity (step-loop.ts). With one step, no call runs within it either. */
  readonly stepsPerActivity: number;
  readonly secondsPerActivity: number;
  /** False if the server lacks our search attributes: setting one would fail the workflow task. */
  readonly searchAttributes: boolean;
}

export interface OpenThreadInput {
  readonly threadId: string;
  readonly agent: string;
  readonly userId: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly parentId: string | null;
  readonly rootId: string;
  /** Initial context of the thread's executions; stored when the thread is created. */
  readonly context?: GivenContext;
  /** Stored when the thread is created. */
  readonly tags?: readonly string[];
  /** Id under which a client has stored arguments, context and tags; they are read instead. */
  readonly stored?: string;
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
      /** The model that the agent asks first; absent if this worker does not know the agent. */
      readonly model?: string;
      readonly lastError?: StoredError;
      /** Only for an agent with two AI sides. */
      readonly session?: Session;
      /** Set if a report to the parent is stored and not yet delivered. */
      readonly reportDue?: true;
      /** Set if the thread has had children. */
      readonly parent?: true;
      /** Set if the project has hooks at the end of executions: they run even if the thread ended only in the store. */
      readonly tellsEnd?: true;
      /** Set if the store has children whose workflows have not been started. */
      readonly unstarted?: true;
    };
