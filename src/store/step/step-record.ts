/**
 * Steps (runtime §3): how they begin and what they drain, what their requests are made from, how they end; and of a
 * running step its model calls, and the text that they stream.
 */
import type { LoggedRepairs } from '../../core/answer/clean-calls.ts';
import type { RejectedAnswer } from '../../core/answer/typed-answer.ts';
import type { FlowDirective, Side, StepDirective } from '../../core/author/thread-execution.ts';
import type { ContextManifest } from '../../core/context/context-manifest.ts';
import type { CountedRequest } from '../../core/context/model-count.ts';
import type { EventData } from '../../core/event/event-data.ts';
import type { CallEstimate } from '../../core/governance/reservation.ts';
import type { PausedFailures } from '../../core/guard/failure.ts';
import type { PausedRounds } from '../../core/guard/round.ts';
import type { ChangedMessage, ToolCall } from '../../core/message/message.ts';
import type { SourcedPrices } from '../../core/message/model-price.ts';
import type { ProviderUsage } from '../../core/message/provider.ts';
import type { AgentRules } from '../../core/project/agent-rules.ts';
import type { QueueItem, Refusal, ToolItem } from '../../core/thread/item.ts';
import type { Session, SideSteps } from '../../core/thread/session.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { LimitReason } from '../../core/thread/step-limit.ts';
import type { Pico } from '../../core/value/money.ts';
import type { SentRequest } from '../request/request-record.ts';
import type { BeginTool, BegunTool, QueuedTool } from '../tool/tool-record.ts';
import type { FromFlow, FromRun, StepRef } from '../transaction/from-run.ts';
import type { HistoryWindow, PreparedItem, StepContext, StepPlace } from './step-place-record.ts';

export interface BeginStep extends FromFlow {
  readonly ordinal: number;
  readonly executionId: string;
  readonly afterStep: number;
  readonly items: readonly QueueItem[];
  readonly rejections: readonly Refusal[];
  /** True if the agent has two AI sides: the first drained message decides which acts, and each needs an answer. */
  readonly twoSides?: boolean;
  /** State of the session as the workflow knows it; if absent, that of the store counts. */
  readonly session?: Session;
  /** Set if the step is requested without new input; has an effect only if nothing is queued and no turn is open. */
  readonly unprompted?: true;
  /** Set if the step was left because its model took no request, and is requested again for that alone. */
  readonly left?: true;
  /** Rules of an agent, perhaps not the one that the workflow knows: a handoff may come first. If absent, none hold. */
  readonly rules?: (agent: string) => AgentRules;
  /**
   * Calls that a side makes before its first model step since the agent got the thread (runtime §7.3). The step then
   * runs them instead of calling a model.
   */
  readonly immediate?: Readonly<Partial<Record<Side, ImmediateCalls>>>;
  /** Items as modified by hooks. If given, other queued items than these and `items` wait for the next step. */
  readonly prepared?: readonly PreparedItem[];
  /** Flow directive of those hooks; stored with the opened step. */
  readonly directive?: FlowDirective;
  /** The execution's scratch data after those hooks, as JSON text; absent if unchanged. */
  readonly context?: string;
  /** Tools that those hooks queued; queued behind what is drained. */
  readonly queuedTools?: readonly QueuedTool[];
  /** If given, a step that calls a model comes with what its request is made from. Called with the step's place. */
  readonly request?: (place: StepPlace) => RequestNeeds;
}

/** What the request of a step needs from the store. */
export interface RequestNeeds {
  readonly window: HistoryWindow;
  /** Called if `call` is given, once the messages are read. True if something else must come before the call. */
  readonly delays?: (context: StepContext) => boolean;
  /** The model to call first, whose call begins with the step. If absent, the call begins when it is sent. */
  readonly call?: Pick<ModelCallStart, 'model' | 'modelId'>;
}

/** Calls that are stored like queued tools, with `metadata.immediate` and origin `code`. */
export interface ImmediateCalls {
  /** `agent:side`; no calls are made if another agent or side acts by then. */
  readonly key: string;
  readonly tools: readonly ToolItem[];
}

/** A stored step, as reported to the workflow. */
export interface StepRecord {
  readonly step: number;
  readonly kind: 'model' | 'tools' | 'immediate' | 'prompt';
  readonly text: boolean;
  readonly model: string | null;
  readonly side: Side;
  /** The agent that has the thread when the step is reported. */
  readonly agent: string;
  /** Completed turns of the session before the step. */
  readonly turns: number;
  /** Names of its tool calls, in order. */
  readonly calls: readonly string[];
  /** The indices of those that may be under way together (core/thread/call-group.ts); absent if there are none. */
  readonly parallel?: readonly number[] | undefined;
  /** True if input is stored that this step has not answered. */
  readonly moreInput: boolean;
  /** Flow directive of hooks. */
  readonly directive?: StepDirective;
  /** Set if its answer is stored and has used up a budget: the execution is over. */
  readonly exceeded?: StoredError;
}

export type BegunStep =
  | { readonly kind: 'terminated' }
  | { readonly kind: 'nothing_to_do'; readonly step: number; readonly swept: number }
  | {
      readonly kind: 'stored';
      readonly record: StepRecord;
      readonly swept: number;
      /** Number of steps of each side that count against the limits, this one included. */
      readonly taken: SideSteps;
      /** The step's execution, if it is not the proposed one. */
      readonly executionId?: string;
    }
  /** The step failed before, or its execution's budget denies it (`BudgetExceeded`). What was due has been drained. */
  | { readonly kind: 'failed'; readonly step: number; readonly error: StoredError; readonly swept: number }
  /**
   * A limit forbids the step: nothing is drained, its items are queued, `waiting` in all. `step`: the thread's last.
   */
  | {
      readonly kind: 'limited';
      readonly step: number;
      readonly reason: LimitReason;
      readonly swept: 0;
      readonly waiting: number;
    }
  /** A subagent's rounds are used up, or too many calls have failed: like `limited`, until the wait is over. */
  | {
      readonly kind: 'paused';
      readonly step: number;
      readonly swept: 0;
      readonly waiting: number;
      readonly pause: Pause;
    }
  /** The execution is cancelled. What was drained is stored; `waiting` items are queued. `step`: the thread's last. */
  | { readonly kind: 'canceled'; readonly step: number; readonly swept: number; readonly waiting: number }
  | {
      readonly kind: 'call';
      readonly step: number;
      readonly attempt: number;
      readonly swept: number;
      /** Number of steps of each side that count against the limits, this one included. */
      readonly taken: SideSteps;
      /** What its request is made from; set if `request` was given. */
      readonly context?: StepContext;
      /** Set if the log already states what its request has no room for, if anything. */
      readonly noted?: true;
      /** Set if the first call of this attempt began in the same transaction. */
      readonly called?: true;
      /** The step's execution, if it is not the proposed one. */
      readonly executionId?: string;
      /** Set if code of another process produces the answer: no model is called. */
      readonly produced?: true;
    };

/** The wait of kind `paused` that must be open before the step can begin. */
interface Pause {
  readonly key: string;
  readonly executionId: string;
  readonly agent: string;
  /** Set if a subagent has used up its rounds. */
  readonly rounds?: PausedRounds;
  /** Set if so many calls have failed that a person must help. */
  readonly failures?: PausedFailures;
  /** Id of the wait if it is open and a message has arrived: close it, and begin the step again. */
  readonly interruptedWait?: string;
}

export interface CommitStep extends StepRef, ChangedMessage {
  /** Id of the answer; `answerIdOf` the step by default. */
  readonly messageId?: string;
  readonly toolCalls: readonly ToolCall[];
  /** The indices of those that may be under way together (core/thread/call-group.ts); none if absent. */
  readonly parallel?: readonly number[];
  /** Repairs that were made to the calls. */
  readonly repaired?: LoggedRepairs;
  readonly model: string;
  readonly finishReason: string;
  readonly usage: ProviderUsage;
  /** Reasoning of the model, if its answer included any. */
  readonly reasoning?: string;
  /** Its parts, as `sealParts` returns them. */
  readonly parts?: string;
  /** The prompt that the answer belongs to. */
  readonly prompt?: string;
  /** The call that produced the answer, if its end is not stored yet; settled even if the answer is not stored. */
  readonly call?: AnsweredCall;
  /** Flow directive of hooks; if absent, the one stored when the step began counts. */
  readonly directive?: StepDirective;
  /** The execution's scratch data as JSON text; absent if unchanged. */
  readonly context?: string;
  /** Tools that hooks of the request and of the answer queued; queued in the same transaction. */
  readonly queuedTools?: readonly QueuedTool[];
  /** Set if the answer fits its type: its content is JSON, and the output of its execution. */
  readonly typed?: true;
  /** Begins the first call in the same transaction, unless a budget is used up or this attempt has been replaced. */
  readonly begins?: BeginTool;
}

/** An answer that does not fit its type. */
export interface RejectAnswer
  extends StepRef,
    Pick<CommitStep, 'model' | 'finishReason' | 'usage' | 'call' | 'context' | 'queuedTools'> {
  readonly rejected: RejectedAnswer;
  /** Set if it is not asked for again: the step fails with this. */
  readonly error?: StoredError;
}

/** `closed`: the step is no longer open or wanted; the answer was not stored. */
export type CommittedStep =
  | {
      readonly kind: 'stored';
      readonly record: StepRecord;
      /** Set if another attempt was first: the stored answer is that attempt's. */
      readonly byOther?: true;
      /** What the begin of the first call has returned; absent if it was not begun. */
      readonly begun?: BegunTool;
    }
  | { readonly kind: 'closed' }
  | { readonly kind: 'terminated' };

export interface SaveFlow extends FromRun {
  readonly step: number;
  /** The index of a tool call; absent for the step itself. */
  readonly index?: number;
  readonly directive?: FlowDirective;
  /** The execution's scratch data as JSON text; absent if unchanged. */
  readonly context?: string;
}

export interface ModelCallStart extends StepRef, Pick<EventData['model.called'], 'insteadOf' | 'heldMs'> {
  readonly call: number;
  readonly model: string;
  readonly modelId: string;
  /**
   * Called if a budget limits tokens or cost. Returns what the request may use, and `leaseMs`: how long its end may be
   * awaited before others may settle it.
   */
  readonly reserve?: () => CallEstimate & { readonly leaseMs: number };
  /**
   * Set if the call does not produce the answer: it is `declined` if a budget denies it, or has no room for it and for
   * the answer's call.
   */
  readonly purpose?: 'compaction';
  /**
   * The request that is about to be sent; logged with the call if a budget limits the execution, or if `always` is set.
   */
  readonly prepared?: {
    readonly always: boolean;
    /** Name of the provider's factory; empty if it has none. */
    readonly provider: string;
    readonly manifest: () => ContextManifest;
  };
}

export type StartedModelCall =
  /**
   * Set if a budget limits the call. `maxOutputTokens`: limit of the answer's tokens. `leftMs`: milliseconds that it
   * may take.
   */
  | { readonly kind: 'started'; readonly maxOutputTokens?: number; readonly leftMs?: number }
  | { readonly kind: 'terminated' }
  /** Refused only because of what other requests have reserved: ask again for the step once they have ended. */
  | { readonly kind: 'blocked' }
  | { readonly kind: 'exceeded'; readonly error: StoredError }
  /** An optional call (`purpose`) was refused; the budget is unchanged. */
  | { readonly kind: 'declined' };

/** Number of the first call of an attempt at a step. */
export const FIRST_CALL = 1;

export interface ModelCallEnd extends StepRef {
  readonly call: number;
  readonly ok: boolean;
  readonly error?: StoredError & {
    readonly statusCode?: number;
    readonly retryInMs?: number;
    readonly plain?: boolean;
    readonly withoutMetadata?: boolean;
    /** Name of the tool that it is sent again without. */
    readonly withoutTool?: string;
    /** Its tools and its format are asked apart. */
    readonly withoutFormat?: true;
    /** The request was too long: the provider has not answered it, so it costs nothing. */
    readonly tooLong?: true;
    /** It is sent again smaller. */
    readonly smaller?: true;
    /** The next model is asked instead. */
    readonly fallback?: true;
  };
  /** Set if it has streamed text that readers must discard; logged with its failure. */
  readonly discards?: boolean;
  readonly usage?: ProviderUsage;
  /** 10⁻¹² US dollars. */
  readonly cost?: Pico;
  /** The prices from which the cost was computed. */
  readonly price?: SourcedPrices;
  /** When the call was sent; if absent, the time at which its row was written counts. */
  readonly startedAt?: number;
  readonly firstTokenAt?: number;
  /** Kinds of chunks of the answer that were ignored: nothing of them is stored. */
  readonly ignored?: readonly string[];
  /** What it shows of how the model counts. */
  readonly counted?: CountedRequest & { readonly model: string };
  /** What was sent; absent if the call failed before. */
  readonly sent?: SentRequest;
}

/** The end of the call that produced an answer. */
export type AnsweredCall = Pick<
  ModelCallEnd,
  'call' | 'usage' | 'cost' | 'price' | 'startedAt' | 'firstTokenAt' | 'ignored' | 'counted' | 'sent'
>;

export interface ModelChunk extends StepRef {
  readonly call: number;
  /** Text of the answer; empty for the others. */
  readonly delta: string;
  readonly reasoning?: string;
  /** A piece of a tool call's arguments. */
  readonly input?: EventData['model.chunk']['input'];
}

/** A model takes no request for now: the step is left, and asked for again. */
export interface HoldModel extends StepRef {
  readonly model: string;
  readonly pauseMs: number;
  /** How often the model has refused the step's request. */
  readonly refusals: number;
  /** Why. */
  readonly by?: EventData['model.held']['by'];
}
