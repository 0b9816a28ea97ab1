/**
 * What crosses Temporal between a thread's workflow and its activities: ids, names, flags; at most 4 KB per
 * answer. Content stays in the store. Every answer is a union on whose kind the workflow switches.
 */

import type { FlowDirective, Side, StepDirective } from '../author/thread-execution.ts';
import type { CancelRequest } from '../governance/cancellation.ts';
import type { WaitAnswer } from '../wait/answer.ts';
import type { WaitKind, WaitVerdict } from '../wait/wait.ts';
import type { QueueItem, Refusal } from './item.ts';
import type { Session, SideSteps } from './session.ts';
import type { LimitReason } from './step-limit.ts';
import type { StopReason, StopRules } from './stop.ts';

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
  /** The thread's agent as the workflow knows it; if the store has another one, the answer names it. */
  readonly agent?: string;
  /** The session as the workflow knows it; absent for one AI side. */
  readonly session?: Session;
  /** Set if the thread was told to go on without new input: if nothing is in line or under way, from its history. */
  readonly unprompted?: true;
  /** Set if the step before was paused and the pause is over: ancestors that show the pause must be notified. */
  readonly waited?: true;
  /** Set if the step was left because its model took no request. */
  readonly asked?: AskedSoFar;
}

/**
 * How a tool call is dispatched: `once` (at most once), `idempotent` (retried), `quick` (short; retried if its tool is
 * idempotent), `code` (like `runCode`: retried, on the queue of workers that run code), `prompt` (a sub-prompt: a model
 * step and its calls), `child` (a subagent: its thread is made or messaged, and awaited if the call blocks).
 */
export type DispatchMode = 'once' | 'idempotent' | 'quick' | 'code' | 'prompt' | 'child';

export interface CallRef {
  readonly name: string;
  readonly mode: DispatchMode;
  readonly timeoutMs: number;
  /** Set if it may be under way together with its neighbours that have the mark (call-group.ts). */
  readonly parallel?: true;
}

/** The calls of a step, as the workflow runs them. */
export interface StepCalls {
  readonly callCount: number;
  /** The first calls by name; see LIMITS.namedCalls. */
  readonly calls: readonly CallRef[];
  /** Which of the later calls are sub-prompts, by index; see LIMITS.laterPrompts. Absent if none is. */
  readonly laterPrompts?: readonly number[];
  /** Which of the later calls are subagents, by index; see LIMITS.laterChildren. */
  readonly laterChildren?: readonly number[];
  /** Outcomes of the first calls, which the step's own activity has run; the remaining calls must still be run. */
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
        /** The flow change that hooks requested. */
        readonly directive?: StepDirective;
        /** The side that made the step, and turns of the session before it, as counted by the store; absent for one AI side. */
        readonly side?: Side;
        readonly turns?: number;
        /** Steps of each side against the limits, this one included (step-limit.ts, L1). */
        readonly taken: SideSteps;
        /**
         * Items in line after the step, if it was taken over or hooks may have queued some; later items follow them.
         */
        readonly waiting?: number;
        /** The thread's agent, if a handoff has changed it. */
        readonly agent?: string;
        /** Set if the answer has used up a budget: its calls are not begun, and the execution is over. */
        readonly exceeded?: StoredError;
        /** The execution's id, if it is not the one that the workflow has proposed. */
        readonly executionId?: string;
      })
  | (Swept & SessionNow & { readonly kind: 'nothing_to_do'; readonly step: number })
  /** A limit forbids the step: nothing was drained. Its items are in line in the store, and `waiting` includes them. */
  | (Swept & LimitedStep)
  /** The execution is cancelled: no step of it begins. `waiting` items are in line. */
  | (Swept & { readonly kind: 'canceled'; readonly step: number; readonly waiting: number })
  | (Swept & PausedStep)
  | (Swept & SessionNow & { readonly kind: 'failed'; readonly step: number; readonly error: StoredError })
  /** Other requests hold what is left of the budget, or the step waits for an approval: ask for the same step again. */
  | (Swept & BlockedStep & { readonly step: number })
  | { readonly kind: 'terminated' };

/** A step with its answer in the store. */
export type StoredStep = Extract<ModelStepOutcome, { kind: 'step' }>;

export interface ToolCallInput extends RunRef {
  readonly step: number;
  readonly index: number;
  readonly executionId: string;
  /** As in `ModelStepInput`, for the step of a sub-prompt. */
  readonly asked?: AskedSoFar;
}

/** The end of a call of a prompt or of a subagent. */
export interface FinishCallInput extends ToolCallInput {
  /** Why the prompt's step could not begin, the child not be messaged, or its workflow not be started. */
  readonly error?: StoredError;
}

export type ToolCallOutcome =
  | {
      readonly kind: 'done';
      readonly name: string;
      readonly succeeded: boolean;
      /** Items that the tool queued. */
      readonly queued: number;
      /** The flow change that the tool, or a hook of its call, requested. */
      readonly directive?: FlowDirective;
      /** File and line at which the tool threw, for readers of the history. */
      readonly failedAt?: string;
    }
  | { readonly kind: 'unknown'; readonly name: string }
  /** Denied by the execution's budget, or by a policy with `onDenied: 'fail'`: not begun, and the execution is over. */
  | { readonly kind: 'exceeded'; readonly name: string; readonly error: StoredError }
  | { readonly kind: 'terminated' };

/** The outcome of a call of a prompt: its step with the calls to run, or its result. */
export type SubpromptOutcome =
  /** `again`: these calls come before the prompt's model step; once they have run, ask again for that step. */
  | (StepCalls & { readonly kind: 'step'; readonly step: number; readonly again?: true })
  | { readonly kind: 'settled'; readonly outcome: ToolCallOutcome }
  | BlockedStep
  | { readonly kind: 'terminated' };

/** The stored state of a tool call whose worker was lost, for calls that run at most once. */
export type RecordedOutcome =
  | ToolCallOutcome
  | WaitingCall
  | { readonly kind: 'redispatch'; readonly name: string };

export interface CommitStatusInput extends RunRef {
  /** As in ModelStepInput: with it, a repeated commit reports its rejections once. */
  readonly ordinal?: number;
  readonly status: RestStatus;
  readonly reason?: StopReason | string;
  /** Id under which a client has stored the reason. */
  readonly stored?: string;
  readonly error?: StoredError;
  readonly rejections: readonly Refusal[];
  /** The workflow holds more work: the execution ends, the thread does not rest. */
  readonly more?: boolean;
  /** Queued items wait for the next user message: the thread rests with them. */
  readonly park?: boolean;
  /** A stop has just been requested: running children are stopped too. */
  readonly stops?: boolean;
  /** As in ModelStepInput. */
  readonly agent?: string;
  /** As in ModelStepInput. */
  readonly session?: Session;
}

interface AgentNow {
  /** The thread's agent, if a handoff has changed it. */
  readonly agent?: string;
  /** Set if a report to the parent is stored and not yet delivered. */
  readonly reportDue?: true;
  /** Set if a cancellation was requested: the execution has ended as canceled, whatever the workflow asked for. */
  readonly canceled?: { readonly reason: string | null };
}

export type CommitStatusOutcome =
  /** At rest. `waiting` counts the items that stay queued; `step` is the store's last. */
  | (AgentNow & { readonly kind: 'rest'; readonly waiting: number; readonly step: number })
  /** Not at rest: there are items that no step has taken. */
  | (AgentNow & { readonly kind: 'pending'; readonly waiting: number; readonly step: number })
  | (Pick<AgentNow, 'reportDue'> & { readonly kind: 'terminated' });

/** The call waits for an answer and must be run again once there is one. Times are milliseconds since 1970. */
export interface WaitingCall {
  readonly kind: 'waits';
  readonly waitId: string;
  readonly waitKind: WaitKind;
  readonly name: string;
  /** What is waited for, in words. */
  readonly text: string;
  readonly expiresAt: number | null;
}

/** Work that the call has begun elsewhere goes on: the call must be run again in `pauseMs` milliseconds. */
export interface LaterCall {
  readonly kind: 'later';
  readonly name: string;
  readonly pauseMs: number;
}

/** The workflow must ask for the same step again. */
export interface BlockedStep {
  readonly kind: 'blocked';
  /** The wait for an answer; absent, like `held`, if other requests hold what is left of the budget. */
  readonly wait?: WaitingCall;
  readonly held?: HeldModel;
}

/** A model's provider takes no request for now: the step must be asked for again in `pauseMs` milliseconds. */
export interface HeldModel {
  /** The model's name. */
  readonly model: string;
  readonly pauseMs: number;
  readonly asked: AskedSoFar;
}

/** What has become of a step's request before its activity was left; passed to the next one. */
export interface AskedSoFar {
  /** Position of the model that is asked, 0 for the primary one. */
  readonly position: number;
  /** When it was first asked, in milliseconds since 1970. */
  readonly since: number;
  /** How often its provider has refused it. */
  readonly refusals: number;
  /** Requests sent so far, to any model. */
  readonly attempts: number;
}

/**
 * A subagent has used up its rounds, or too many calls have failed: no step begins until `wait` is over, as if a limit
 * forbade it. `waiting` items are in line.
 */
export interface PausedStep {
  readonly kind: 'paused';
  readonly step: number;
  readonly waiting: number;
  readonly wait: WaitingCall;
}

/** An answer that arrived by a signal or an update; it counts once it is stored. */
export interface AnswerWaitInput extends RunRef {
  readonly id: string;
  readonly answer: WaitAnswer;
  readonly fingerprint?: string;
}

export type WaitAnswerOutcome = WaitVerdict | { readonly outcome: 'misfit'; readonly reason: string };

/** The outcome of one attempt at a call. */
export type AttemptOutcome = ToolCallOutcome | WaitingCall;
/** The outcome of one attempt at a tool call, which may have begun work that goes on elsewhere. */
export type ToolAttempt = AttemptOutcome | LaterCall;
export type SubpromptAttempt = SubpromptOutcome | WaitingCall;
export type SubagentAttempt = SubagentOutcome | WaitingCall;

/** A child thread, as its parent's workflow starts it. */
export interface ChildStart {
  readonly threadId: string;
  readonly agent: string;
  readonly userId: string | null;
  readonly rootId: string;
}

/** A wait of a descendant that blocks the thread. */
export interface WaitBelow {
  readonly id: string;
  readonly threadId: string;
  readonly kind: WaitKind;
  readonly name: string;
}

/** The outcome of a call of a subagent: a child to start, a child that was messaged; or the call's result. */
export type SubagentOutcome =
  | {
      readonly kind: 'child';
      readonly child: ChildStart;
      /** True if the child's workflow must be started; it may already be running. */
      readonly start: boolean;
      /** True if the call receives its result with the child's next report. */
      readonly wait: boolean;
      /** Waits of descendants for people; absent if there are none. */
      readonly waits?: readonly WaitBelow[];
    }
  | { readonly kind: 'settled'; readonly outcome: ToolCallOutcome }
  | { readonly kind: 'terminated' };

/** `waiting`: the call blocks, and the child has not reported yet. */
export type FinishedSubagent =
  | ToolCallOutcome
  | {
      readonly kind: 'waiting';
      /** As in `SubagentOutcome`. */
      readonly waits?: readonly WaitBelow[];
    };

/** The outcome of delivering a thread's reports to its parent. */
export interface ReportOutcome {
  /** True if the thread ends with this report: a child that is not resumable does. */
  readonly ends: boolean;
}

export interface UnstartedOutcome {
  readonly children: readonly ChildStart[];
  /** True if more children remain than fit into one answer. */
  readonly more: boolean;
}

/**
 * Part of an activity's answer: milliseconds until the next effect is due, 0 if it is overdue. Absent if no effect is
 * pending.
 */
export interface EffectsDue {
  readonly effectsInMs?: number;
}

/** A batch of effects; `most` limits its size if a step is waiting for it to end. */
export interface RunEffectsInput extends RunRef {
  readonly most?: number;
}

export type RunEffectsOutcome =
  | {
      readonly kind: 'done';
      /** How many ran, whatever their outcome. */
      readonly ran: number;
      /** Queued items, from any sender. */
      readonly waiting: number;
    }
  | { readonly kind: 'terminated' };
