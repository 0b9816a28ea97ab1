/**
 * What crosses Temporal between a thread's workflow and its activities: ids, names, flags; at most 4 KB per
 * answer. Content stays in the store. Every answer is a union on whose kind the workflow switches.
 */

import type { FlowDirective, Side, StepDirective } from '../author/thread-execution.ts';
import type { CancelRequest } from '../governance/cancellation.ts';
import type { QueueItem, Refusal } from './item.ts';
import type { Session, SideSteps } from './session.ts';
import type { LimitReason } from './step-limit.ts';
import type { StopReason, StopRules } from './stop.ts';
import type { BlockedStep, PausedStep, WaitingCall } from './waiting-call.ts';

/** The thread and the workflow run: part of every activity's input, and what the fence checks. */
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

export interface CancelExecutionInput extends RunRef {
  readonly request: CancelRequest;
}

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
  /** The workflow's idea of the thread's agent: where the store has another one, the answer says so. */
  readonly agent?: string;
  /** The workflow's idea of the session; absent for one AI side. */
  readonly session?: Session;
  /** Somebody lets the thread go on: where nothing is in line and nothing is under way, from its history. */
  readonly unprompted?: true;
  /** The step before was paused, and that is over: ancestors that show it are told. */
  readonly waited?: true;
}

/**
 * How a tool call is dispatched: `once` (at most once), `idempotent` (retried), `quick` (short; retried where its tool is idempotent), `code` (as
 * `runCode`, retried, on the queue of workers that run code), `prompt` (a sub-prompt: a model step and its calls),
 * `child` (a subagent: its thread is made or messaged, and awaited where the call blocks).
 */
export type DispatchMode = 'once' | 'idempotent' | 'quick' | 'code' | 'prompt' | 'child';

/** The queue of calls of mode `code`, so that computations do not take the slots of other tools. */
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
  /** Which of the later calls are sub-prompts, by index; see LIMITS.laterPrompts. Absent where none is. */
  readonly laterPrompts?: readonly number[];
  /** Which of the later calls are subagents, by index; see LIMITS.laterChildren. */
  readonly laterChildren?: readonly number[];
  /** Of the first calls, which the step's own activity has run; the others are still to be run. */
  readonly ran?: readonly ToolCallOutcome[];
}

interface Swept {
  /** Pending rows of the store that this step drained. */
  readonly swept: number;
}

type LimitedStep = Readonly<Record<'step' | 'waiting', number> & { kind: 'limited'; reason: LimitReason }>;

/** The store's state of the session; absent for one AI side. */
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
        /** There is input that this step has not answered: the turn continues, whatever the rules say. */
        readonly moreInput: boolean;
        /** What hooks asked of the flow. */
        readonly directive?: StepDirective;
        /** The side that made the step, and turns of the session before it, as counted by the store; absent for one AI side. */
        readonly side?: Side;
        readonly turns?: number;
        /** Steps of each side against the limits, this one included (step-limit.ts, L1); absent in answers of early versions. */
        readonly taken?: SideSteps;
        /** Items in line behind the step, where it was taken over or hooks may have queued some; others came later and go behind them. */
        readonly waiting?: number;
        /** The thread's agent, where a handoff has changed it. */
        readonly agent?: string;
        /** Its answer has used up a budget: its calls are not begun, and the execution is over. */
        readonly exceeded?: StoredError;
        /** The execution, where it is not the one that the workflow has proposed. */
        readonly executionId?: string;
      })
  | (Swept & SessionNow & { readonly kind: 'nothing_to_do'; readonly step: number })
  /** A limit forbids the step: nothing was drained, and its items are in line in the store, `waiting` with them. */
  | (Swept & LimitedStep)
  /** The execution is cancelled: no step of it begins. `waiting` items are in line. */
  | (Swept & { readonly kind: 'canceled'; readonly step: number; readonly waiting: number })
  | (Swept & PausedStep)
  | (Swept & SessionNow & { readonly kind: 'failed'; readonly step: number; readonly error: StoredError })
  /** Other requests hold what is left of its budget, or it waits for an approval: the same step is to be asked for again. */
  | (Swept & BlockedStep & { readonly step: number })
  | { readonly kind: 'terminated' };

/** A step with its answer in the store. */
export type StoredStep = Extract<ModelStepOutcome, { kind: 'step' }>;

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
      /** Where a tool threw: file and line, for readers of the history. */
      readonly failedAt?: string;
    }
  | { readonly kind: 'unknown'; readonly name: string }
  /** The execution's budget denies it, or its policy with `onDenied: 'fail'`: it was not begun, and the execution is over. */
  | { readonly kind: 'exceeded'; readonly name: string; readonly error: StoredError }
  | { readonly kind: 'terminated' };

/** The outcome of a call of a prompt: its step with the calls to run, or its result. */
export type SubpromptOutcome =
  /** `again`: its calls come before the model step, for which it is asked again. */
  | (StepCalls & { readonly kind: 'step'; readonly step: number; readonly again?: true })
  | { readonly kind: 'settled'; readonly outcome: ToolCallOutcome }
  | BlockedStep
  | { readonly kind: 'terminated' };

/** The state of a tool call whose worker was lost (at most once). */
export type RecordedOutcome =
  | ToolCallOutcome
  | WaitingCall
  | { readonly kind: 'redispatch'; readonly name: string };

export interface CommitStatusInput extends RunRef {
  /** As in ModelStepInput: with it, a repeated commit reports its rejections once. */
  readonly ordinal?: number;
  readonly status: RestStatus;
  readonly reason?: StopReason | string;
  readonly error?: StoredError;
  readonly rejections: readonly Refusal[];
  /** The workflow holds more work: the execution ends, the thread does not rest. */
  readonly more?: boolean;
  /** Queued items wait for the next user message: the thread rests with them. */
  readonly park?: boolean;
  /** A stop was requested just now: running children are stopped too. */
  readonly stops?: boolean;
  /** As in ModelStepInput. */
  readonly agent?: string;
  /** As in ModelStepInput. */
  readonly session?: Session;
}

interface AgentNow {
  /** The thread's agent, where a handoff has changed it. */
  readonly agent?: string;
  /** A report to the parent is stored and not yet delivered. */
  readonly reportDue?: true;
  /** The execution was to be cancelled, and has ended so, whatever the workflow had in mind. */
  readonly canceled?: { readonly reason: string | null };
}

export type CommitStatusOutcome =
  /** At rest. `waiting` counts the items that stay queued; `step` is the store's last. */
  | (AgentNow & { readonly kind: 'rest'; readonly waiting: number; readonly step: number })
  /** Not at rest: there are items that no step has taken. */
  | (AgentNow & { readonly kind: 'pending'; readonly waiting: number; readonly step: number })
  | (Pick<AgentNow, 'reportDue'> & { readonly kind: 'terminated' });
