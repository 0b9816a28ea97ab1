/**
 * What crosses Temporal between a thread's workflow and its activities: ids, names, flags; at most 4 KB
 * an answer. Content stays in the store. Every answer is a union that the workflow switches on.
 */
import type { QueueItem, Refusal } from './item.ts';
import type { Session } from './session.ts';
import type { StopReason, StopRules } from './stop.ts';
import type { FlowDirective, Side, StepDirective } from './thread-execution.ts';

/** Times that the worker's configuration sets and the workflow must replay: they come with `openThread`. */
export interface Settings {
  readonly historySoftLimit: number;
  readonly modelHeartbeatMs: number;
  readonly toolHeartbeatMs: number;
  /** False where the server lacks our search attributes: setting one would fail the workflow task. */
  readonly searchAttributes: boolean;
}

/**
 * Part of an answer where effects wait: the milliseconds until the next one is due, 0 for one that is late. Absent where
 * none waits.
 */
export interface EffectsDue {
  readonly effectsInMs?: number;
}

/** What became of a batch of effects. */
export type RunEffectsOutcome =
  | {
      readonly kind: 'done';
      /** How many ran, whatever came of them. */
      readonly ran: number;
      /** Items in line, whoever queued them. */
      readonly waiting: number;
    }
  | { readonly kind: 'terminated' };

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
  | { readonly kind: 'terminated'; readonly storeId?: string }
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
      /** Of an agent with two AI sides. */
      readonly session?: Session;
      /** A report to the parent is stored and not delivered. */
      readonly reportDue?: true;
      /** It has had children. */
      readonly parent?: true;
      /** Children are stored whose workflows nobody has started. */
      readonly unstarted?: true;
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
  /** The agent that the workflow takes for the thread's: where another one has it, the answer says so. */
  readonly agent?: string;
  /** Where the session stands, as the workflow knows it; absent for one AI side. */
  readonly session?: Session;
}

/**
 * How a tool call is dispatched: `once` (at most once), `idempotent` (retried), `quick` (retried, and soon done), `code` (as
 * `runCode`, retried, on the queue of those workers that run code), `prompt` (a sub-prompt: a model step and its calls),
 * `child` (a subagent: its thread is made or told something, and awaited where it blocks).
 */
export type DispatchMode = 'once' | 'idempotent' | 'quick' | 'code' | 'prompt' | 'child';

/** Where the calls of mode `code` wait, so that computing models do not take the places of other tools. */
export function sandboxQueue(taskQueue: string): string {
  return `${taskQueue}-sandbox`;
}

export interface CallRef {
  readonly name: string;
  readonly mode: DispatchMode;
  readonly timeoutMs: number;
}

/** The calls of a step, as the workflow runs them. */
export interface StepCalls {
  readonly callCount: number;
  /** The first calls by name; see LIMITS.namedCalls. */
  readonly calls: readonly CallRef[];
  /** Which of the calls beyond those are sub-prompts, by index; see LIMITS.laterPrompts. Absent where none is. */
  readonly laterPrompts?: readonly number[];
  /** Which of them are of subagents; see LIMITS.laterChildren. */
  readonly laterChildren?: readonly number[];
}

interface Swept {
  /** Pending rows of the store that this step took. */
  readonly swept: number;
}

/** Where the session stands, as the store knows it; absent for one AI side. */
interface SessionNow {
  readonly session?: Session;
}

export type ModelStepOutcome =
  | (Swept &
      StepCalls & {
        readonly kind: 'step';
        /** The store's number of the step. */
        readonly step: number;
        readonly answered: boolean;
        readonly text: boolean;
        readonly rules: StopRules;
        readonly model: string;
        /** Input that this step has not answered: whatever the rules say, the turn goes on. */
        readonly moreInput: boolean;
        /** What hooks asked of the flow. */
        readonly directive?: StepDirective;
        /** Whose step it was; absent for one AI side. */
        readonly side?: Side;
        /** Turns of the session before it, as the store counts them; absent for one AI side. */
        readonly turns?: number;
        /** The agent that has the thread now, when a handoff has changed it. */
        readonly agent?: string;
      })
  | (Swept & SessionNow & { readonly kind: 'nothing_to_do'; readonly step: number })
  | (Swept & SessionNow & { readonly kind: 'failed'; readonly step: number; readonly error: StoredError })
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
      /** What the tool, or a hook of its call, asked of the flow. */
      readonly directive?: FlowDirective;
      /** Of a tool that threw: file and line, for readers of the history. */
      readonly failedAt?: string;
    }
  | { readonly kind: 'unknown'; readonly name: string }
  | { readonly kind: 'terminated' };

/** What a call of a prompt has come to: its step with the calls that are to run, or its result. */
export type SubpromptOutcome =
  | (StepCalls & { readonly kind: 'step'; readonly step: number })
  | { readonly kind: 'settled'; readonly outcome: ToolCallOutcome }
  | { readonly kind: 'terminated' };

export interface FinishSubpromptInput extends ToolCallInput {
  /** Why the prompt's step could not even be tried. */
  readonly error?: StoredError;
}

/** What became of a tool call whose worker was lost (at most once). */
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
  /** Somebody has asked for a stop just now: children that are at work stop too. */
  readonly stops?: boolean;
  /** As in ModelStepInput. */
  readonly agent?: string;
  /** As in ModelStepInput. */
  readonly session?: Session;
}

interface AgentNow {
  /** The agent that has the thread now, when a handoff has changed it. */
  readonly agent?: string;
  /** A report to the parent is stored and not delivered. */
  readonly reportDue?: true;
}

export type CommitStatusOutcome =
  /** At rest. `waiting` counts the items that stay parked; `step` is the store's last. */
  | (AgentNow & { readonly kind: 'rest'; readonly waiting: number; readonly step: number })
  /** Not at rest: there are items that nobody has taken yet. */
  | (AgentNow & { readonly kind: 'pending'; readonly waiting: number; readonly step: number })
  | (Pick<AgentNow, 'reportDue'> & { readonly kind: 'terminated' });
