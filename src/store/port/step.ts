/** Steps (runtime §3): begun with what they drain, assembled, ended with their answer. */
import type { ToldRepairs } from '../../core/answer/clean-calls.ts';
import type { FlowDirective, Side, StepDirective } from '../../core/author/thread-execution.ts';
import type { BudgetDefinition } from '../../core/governance/budget.ts';
import type { PausedFailures } from '../../core/guard/failure.ts';
import type { PausedRounds, RoundLimits } from '../../core/guard/round.ts';
import type { TeamGuard } from '../../core/guard/team.ts';
import type { AttachmentRef, ToolCall } from '../../core/message/message.ts';
import type { ProviderUsage } from '../../core/message/provider.ts';
import type { QueueItem, Refusal, ToolItem } from '../../core/thread/item.ts';
import type { Session, SideSteps } from '../../core/thread/session.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { LimitReason, StepLimits } from '../../core/thread/step-limit.ts';
import type { PreparedRow } from './hook.ts';
import type { AnsweredCall, ModelCallStart } from './model-call.ts';
import type { FromRun } from './run.ts';
import type { HistoryWindow, StepContext, StepPlace } from './step-place.ts';
import type { KeepSummary, KeptSummary } from './summary.ts';
import type { QueuedTool } from './tool.ts';

export type { HistoryWindow, StepContext, StepPlace, SubpromptPlace } from './step-place.ts';

export interface BeginStep extends FromRun {
  readonly ordinal: number;
  readonly executionId: string;
  readonly afterStep: number;
  readonly items: readonly QueueItem[];
  readonly rejections: readonly Refusal[];
  /** The agent has two AI sides: the first drained message says which of them acts, and each message wants an answer. */
  readonly twoSides?: boolean;
  /** Where the session stands, as the workflow knows it; absent, as the store does. */
  readonly session?: Session;
  /** Asked for without anything new: counts where nothing is in line and no turn is open. */
  readonly unprompted?: true;
  /** The limits of an agent, which may be another one than the workflow knows of; absent, nothing limits the step. */
  readonly limits?: (agent: string) => StepLimits | undefined;
  /** The budget of an agent: an execution that the step begins has it. */
  readonly budget?: (agent: string) => BudgetDefinition | undefined;
  /** How many rounds a turn of an agent may take, and how many calls in a row may fail: kept as an execution begins. */
  readonly rounds?: (agent: string) => RoundLimits | undefined;
  /** How large the team of an agent may grow in a turn: kept likewise. */
  readonly team?: (agent: string) => TeamGuard | undefined;
  /** The hash of the manifest that names an agent as its `run`: told as an execution begins. */
  readonly manifest?: (agent: string) => string | undefined;
  /** Calls that an acting side makes before its first model step since the agent has the thread (runtime §7.3): in its place. */
  readonly immediate?: Readonly<Partial<Record<Side, ImmediateCalls>>>;
  /**
   * Rows as hooks have made them. Where given, nothing else of the store's queue is drained beside `items`: what came in
   * between waits for the next step.
   */
  readonly prepared?: readonly PreparedRow[];
  /** What those hooks asked of the flow; kept with the step that is opened. */
  readonly directive?: FlowDirective;
  /** The execution's scratch, as those hooks left it: JSON text; absent where it is as it was. */
  readonly context?: string;
  /** Tools that those hooks queued: in line behind what is drained. */
  readonly queuedTools?: readonly QueuedTool[];
  /** Where given, a step that calls a model brings what its request is assembled from: asked when its place is known. */
  readonly request?: (place: StepPlace) => RequestNeeds;
}

/** What the request of a step needs, before it is assembled. */
export interface RequestNeeds {
  readonly window: HistoryWindow;
  /** Asked where there is a `call`, once the messages are read: whether something else comes before it. */
  readonly delays?: (context: StepContext) => boolean;
  /** The model that is asked first: its call begins with the step. Absent where it begins when it is sent. */
  readonly call?: Pick<ModelCallStart, 'model' | 'modelId'>;
}

/** Stored as queued tools are, with `metadata.immediate`; their origin is code. */
export interface ImmediateCalls {
  /** `agent:side`; where another one acts by then, there are none. */
  readonly key: string;
  readonly tools: readonly ToolItem[];
}

/** A step that is in the store, as the workflow must hear of it. */
export interface StepRecord {
  readonly step: number;
  readonly kind: 'model' | 'tools' | 'immediate' | 'prompt';
  readonly text: boolean;
  readonly model: string | null;
  readonly side: Side;
  /** Who has the thread, as the step is told. */
  readonly agent: string;
  /** Completed turns of the session, as they stood before the step. */
  readonly turns: number;
  /** Names of its tool calls, in order. */
  readonly calls: readonly string[];
  /** Input is stored that this step has not answered. */
  readonly moreInput: boolean;
  /** What hooks asked of the flow. */
  readonly directive?: StepDirective;
  /** Its answer is kept, and has used up a budget: the execution is over. */
  readonly exceeded?: StoredError;
}

export type BegunStep =
  | { readonly kind: 'terminated' }
  | { readonly kind: 'nothing_to_do'; readonly step: number; readonly swept: number }
  | {
      readonly kind: 'stored';
      readonly record: StepRecord;
      readonly swept: number;
      /** Steps against the limits, this one included. */
      readonly taken: SideSteps;
      /** As below. */
      readonly executionId?: string;
    }
  /** It failed before, or its execution's budget denies it (`BudgetExceeded`): what was due is history then. */
  | { readonly kind: 'failed'; readonly step: number; readonly error: StoredError; readonly swept: number }
  /** Nothing was drained; the step's items are in line, and with them `waiting` in all. `step` is the thread's last. */
  | {
      readonly kind: 'limited';
      readonly step: number;
      readonly reason: LimitReason;
      readonly swept: 0;
      readonly waiting: number;
    }
  /** A subagent has used up its rounds, or calls have failed: nothing was drained, as where a limit forbids the step, until the wait is over. */
  | {
      readonly kind: 'paused';
      readonly step: number;
      readonly swept: 0;
      readonly waiting: number;
      readonly pause: Pause;
    }
  /** Its execution is cancelled. What was drained is history; `waiting` items are in line. `step` is the thread's last. */
  | { readonly kind: 'canceled'; readonly step: number; readonly swept: number; readonly waiting: number }
  | {
      readonly kind: 'call';
      readonly step: number;
      readonly attempt: number;
      readonly swept: number;
      /** As above. */
      readonly taken: SideSteps;
      /** Where its request was asked about. */
      readonly context?: StepContext;
      /** The log says what its request has no room for. */
      readonly noted?: true;
      /** The first call of this attempt began with it. */
      readonly called?: true;
      /** Its execution, where it is not the one that was proposed. */
      readonly executionId?: string;
      /** Code of another process produces it: no model is asked. */
      readonly produced?: true;
    };

/** The wait of kind `paused` that is to be open. */
export interface Pause {
  readonly key: string;
  readonly executionId: string;
  readonly agent: string;
  /** A subagent has used them up. */
  readonly rounds?: PausedRounds;
  /** So many calls have failed that it asks for help. */
  readonly failures?: PausedFailures;
  /** It is open, and somebody has spoken: it is to be closed, and the step to be begun again. */
  readonly spokenTo?: string;
}

/** One attempt at a step. */
export interface StepRef extends FromRun {
  readonly step: number;
  readonly attempt: number;
}

export interface CommitStep extends StepRef {
  /** The answer's id; `answerIdOf` the step when absent. */
  readonly messageId?: string;
  readonly content: string | null;
  readonly toolCalls: readonly ToolCall[];
  /** What was done to the calls before they came here. */
  readonly repaired?: ToldRepairs;
  readonly model: string;
  readonly finishReason: string;
  readonly usage: ProviderUsage;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly attachments?: readonly AttachmentRef[];
  readonly silent?: boolean;
  /** What the model thought, when its answer told it. */
  readonly reasoning?: string;
  /** The prompt that it answers for. */
  readonly prompt?: string;
  /** The call that brought it, where its end is not stored yet: settled with it, whatever becomes of the answer. */
  readonly call?: AnsweredCall;
  /** What hooks asked of the flow; absent, what was known as the step began. */
  readonly directive?: StepDirective;
  /** The execution's scratch, JSON text; absent where it is as it was. */
  readonly context?: string;
  /** Tools that hooks of the request and of the answer queued: in line with it, or not at all. */
  readonly queuedTools?: readonly QueuedTool[];
}

/** `closed`: the step was stopped; nothing was written. */
export type CommittedStep =
  | {
      readonly kind: 'stored';
      readonly record: StepRecord;
      /** Another attempt was first: what is stored is its answer. */
      readonly byOther?: true;
    }
  | { readonly kind: 'closed' }
  | { readonly kind: 'terminated' };

export interface KeepFlow extends FromRun {
  readonly step: number;
  /** The index of a tool call; absent for the step itself. */
  readonly index?: number;
  readonly directive?: FlowDirective;
  /** The execution's scratch, JSON text. */
  readonly context?: string;
}

export interface StepStore {
  /**
   * Drains the queue and decides what the step is: call a model, run queued tools, or nothing to do. Drains nothing where a stored step
   * of the open turn is taken over that the workflow has not ended, or a limit forbids the side that would act to act again: the
   * step's items are in line then (runtime §3.7, §6). The run and the ordinal are the key: the same command again drains nothing and finds the same step, as another attempt where it is open.
   */
  begin(command: BeginStep): Promise<BegunStep>;
  /**
   * One read, from the place of the step to its messages, oldest first: `window` is asked in between how much of them is needed;
   * all where it is absent. Rejects with `ThreadNotFound`.
   */
  readContext(
    threadId: string,
    step: number,
    window?: (place: StepPlace) => HistoryWindow,
  ): Promise<StepContext>;
  /** Stores the answer with its calls. An open step is ended once: who comes second is answered what the first one stored. */
  commit(command: CommitStep): Promise<CommittedStep>;
  /** Ends an open step without an answer; only its newest attempt may. A step that is committed stays so, and is answered. */
  fail(command: StepRef & { readonly error: StoredError }): Promise<CommittedStep>;
  /** A worker that shuts down gives this attempt up: the log says so, and not that the worker was lost, once another one begins. */
  handOver(ref: StepRef): Promise<void>;
  /** What hooks asked once their step, or their call's result, was stored. Where they asked nothing, nothing is written. */
  keepFlow(command: KeepFlow): Promise<void>;
  /**
   * Keeps a summary of the older part of the history, and tells the log of it. The side, the prompt, the scope and the last message
   * covered are the key: who comes second is answered what the first one kept.
   */
  keepSummary(command: KeepSummary): Promise<KeptSummary>;
}
