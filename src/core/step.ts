/**
 * What crosses Temporal between a thread's workflow and its activities: ids, names, flags; at most 4 KB
 * an answer. Content stays in the store. Every answer is a union that the workflow switches on.
 */
import type { QueueItem, Refusal } from './item.ts';
import type { StopReason, StopRules } from './stop.ts';

/** Times that the worker's configuration sets and the workflow must replay: they come with `openThread`. */
export interface Settings {
  readonly historySoftLimit: number;
  readonly modelHeartbeatMs: number;
  readonly toolHeartbeatMs: number;
  /** False where the server lacks our search attributes: setting one would fail the workflow task. */
  readonly searchAttributes: boolean;
}

/** Which thread, which workflow run: part of every activity's input, the ground of the fence. */
export interface RunRef {
  readonly threadId: string;
  readonly storeId: string;
}

export interface StoredError {
  readonly code: string;
  readonly message: string;
}

export type ThreadStatus = 'idle' | 'running' | 'waiting' | 'stopped' | 'failed' | 'terminated';
export type RestStatus = Exclude<ThreadStatus, 'running' | 'waiting'>;

export interface OpenThreadInput {
  readonly threadId: string;
  readonly agent: string;
  readonly userId: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly parentId: string | null;
  readonly rootId: string;
  /** The store this thread has lived in so far; absent at its first run. */
  readonly storeId?: string;
}

export type OpenThreadOutcome =
  | { readonly kind: 'terminated' }
  | {
      readonly kind: 'open';
      readonly storeId: string;
      readonly agent: string;
      readonly status: ThreadStatus;
      readonly settings: Settings;
      /** Where the store stands: steps beyond this one are not yet known to be over. */
      readonly afterStep: number;
      readonly turnOpen: boolean;
      readonly waiting: number;
      /** The model that the agent asks first; absent when this worker does not know the agent. */
      readonly model?: string;
      readonly lastError?: StoredError;
    };

export interface StashInput extends RunRef {
  readonly items: readonly QueueItem[];
}

export interface ModelStepInput extends RunRef {
  /** Counts the steps of this workflow run; with the run id it is the step's key. */
  readonly ordinal: number;
  readonly executionId: string;
  readonly afterStep: number;
  readonly items: readonly QueueItem[];
  readonly rejections: readonly Refusal[];
}

/**
 * How a tool call is dispatched: `once` (at most once), `idempotent` (retried), `quick` (a local activity), `code` (as
 * `runCode`, retried, on the queue of those workers that run code).
 */
export type DispatchMode = 'once' | 'idempotent' | 'quick' | 'code';

/** Where the calls of mode `code` wait, so that computing models do not take the places of other tools. */
export function sandboxQueue(taskQueue: string): string {
  return `${taskQueue}-sandbox`;
}

export interface CallRef {
  readonly name: string;
  readonly mode: DispatchMode;
  readonly timeoutMs: number;
}

interface Swept {
  /** Pending rows of the store that this step took. */
  readonly swept: number;
}

export type ModelStepOutcome =
  | (Swept & {
      readonly kind: 'step';
      /** The store's number of the step. */
      readonly step: number;
      readonly answered: boolean;
      readonly text: boolean;
      readonly callCount: number;
      /** The first calls by name; see LIMITS.namedCalls. */
      readonly calls: readonly CallRef[];
      readonly rules: StopRules;
      readonly model: string;
      /** Input that this step has not answered: whatever the rules say, the turn goes on. */
      readonly moreInput: boolean;
    })
  | (Swept & { readonly kind: 'nothing_to_do'; readonly step: number })
  | (Swept & { readonly kind: 'failed'; readonly step: number; readonly error: StoredError })
  | { readonly kind: 'terminated' };

export interface ToolCallInput extends RunRef {
  readonly step: number;
  readonly index: number;
  readonly executionId: string;
}

export type ToolCallOutcome =
  | {
      readonly kind: 'done';
      readonly name: string;
      readonly succeeded: boolean;
      /** Items that the tool queued. */
      readonly queued: number;
    }
  | { readonly kind: 'unknown'; readonly name: string }
  | { readonly kind: 'terminated' };

/** What became of a tool call whose worker was lost (house: at most once). */
export type RecordedOutcome = ToolCallOutcome | { readonly kind: 'redispatch'; readonly name: string };

export interface CommitStatusInput extends RunRef {
  /** As in ModelStepInput: with it, a commit that is given twice reports its rejections once. */
  readonly ordinal?: number;
  readonly status: RestStatus;
  readonly reason?: StopReason | string;
  readonly error?: StoredError;
  readonly rejections: readonly Refusal[];
  /** The workflow holds more work: the execution ends, the thread does not rest. */
  readonly more?: boolean;
  /** What is queued waits for the next user message: the thread rests beside it. */
  readonly park?: boolean;
}

export type CommitStatusOutcome =
  /** At rest. `waiting` counts the items that stay parked; `step` is the store's last. */
  | { readonly kind: 'rest'; readonly waiting: number; readonly step: number }
  /** Not at rest: there are items that nobody has taken yet. */
  | { readonly kind: 'pending'; readonly waiting: number; readonly step: number }
  | { readonly kind: 'terminated' };
