/** What activities receive from the composition root: ports and settings, never globals. */

import type { AuthorRun } from '../../author/guard/author-run.ts';
import type { StateDependencies } from '../../author/state/dependencies.ts';
import type { InSpan } from '../../core/event/traced-row.ts';
import type { ActivityInput, ActivityName, ActivityOutcome, Wrapper } from '../../core/thread/activities.ts';
import type { Settings } from '../../core/thread/open-thread.ts';
import type { RateLimiter } from '../../models/rate-limiter.ts';
import type { BeginTool, BegunTool } from '../../store/tool/tool-record.ts';
import type { StepRef } from '../../store/transaction/from-run.ts';
import type { ActivityLoad } from './activity-load.ts';

export interface ActivityDependencies extends StateDependencies {
  readonly settings: Settings;
  /** Milliseconds within which a stop reaches all work of the thread, on whichever worker it runs. */
  readonly stopWithinMs: number;
  /** True if content that comes through Temporal is refused: senders must store it first. */
  readonly refusesContent?: boolean;
  /**
   * Fires when this worker is told to shut down (SIGTERM): it begins nothing new; model requests may end within its
   * grace period.
   */
  readonly leaving: AbortSignal;
  /** Fires when that grace period is over: model requests are handed over to another worker. */
  readonly handover: AbortSignal;
  /** Where requests to models wait for their turn; if absent, each is sent at once. */
  readonly limiter?: RateLimiter;
  /** How many activities may run in this process at once; if absent, any number. */
  readonly slots?: number;
  readonly load?: ActivityLoad;
  /** The same with the project as it is now, for the next step of an activity. */
  readonly onNewestProject?: () => ActivityDependencies;
  /** While a step is answered: the first call of its answer. */
  readonly firstCall?: FirstCall;
  /** Runs suspect work in a lone process; if absent, such work runs in this process. */
  readonly alone?: RunAlone;
  /**
   * Keys of units that ran when an earlier process died; needed because a local activity does not show that it is a
   * retry.
   */
  readonly suspects?: ReadonlySet<string>;
  /** True in a lone process, which was started for a single unit of work. */
  readonly lone?: boolean;
  /** Runs work as that of its span; absent if no OpenTelemetry SDK is registered. */
  readonly inSpan?: InSpan | undefined;
  /** Called at the places where a fault test may kill the worker; absent in production. */
  readonly probe?: (point: FaultPoint) => void | Promise<void>;
}

/**
 * The first call of an answer that runs within the activity of its step: it begins in the transaction that stores the
 * answer, which saves a transaction, and a wait for the disk if it may run only once.
 */
export interface FirstCall {
  /** How a call of this name begins in the step; undefined if it does not run within the activity. */
  offer(step: StepRef, name: string): BeginTool | undefined;
  /** What was offered last. */
  readonly command?: BeginTool;
  /** Set once it was stored. */
  begun?: BegunTool;
}

/** An activity, or an effect as it was begun: what a lone process can run. */
export type LoneActivity = ActivityName | 'runEffect';

/** The implementation of an activity, or what stands around it. */
export type ActivityRun<Input, Outcome> = (
  dependencies: ActivityDependencies,
  input: Input,
) => Promise<Outcome>;

/** What a wrapper may need to know of the activity that it wraps. */
export interface Wrapped {
  readonly name: ActivityName;
  /** Another activity, without its wrappers up to `outside`; with all of them if that is absent. */
  readonly other: <Name extends ActivityName>(
    name: Name,
    outside?: Wrapper,
  ) => ActivityRun<ActivityInput<Name>, ActivityOutcome<Name>>;
}

/** Runs an activity in a separate process. Its death counts against the unit, and is thrown as a retryable failure. */
export type RunAlone = (activity: LoneActivity, input: unknown, unit: AuthorRun) => Promise<unknown>;

export type FaultPoint =
  | 'thread_opening'
  | 'step_begun'
  | 'summarised'
  | 'summary_kept'
  | 'model_streaming'
  | 'model_answered'
  | 'model_committed'
  | 'output_checked'
  | 'output_rejected'
  | 'output_rejection_stored'
  | 'tool_not_begun'
  | 'tool_committed'
  | 'wait_opened'
  | 'wait_answered'
  | 'execution_ending'
  | 'status_committed'
  | 'subprompt_not_begun'
  | 'subprompt_begun'
  | 'subprompt_opened'
  | 'subprompt_answered'
  | 'subprompt_finished'
  | 'subagent_begun'
  | 'subagent_created'
  | 'subagent_told'
  | 'subagent_reported'
  | 'subagent_status_told'
  | 'relative_told'
  | 'report_due'
  | 'report_delivered'
  | 'report_signalled'
  | 'task_thinking'
  | 'task_observed'
  | 'task_decided'
  | 'task_not_begun'
  | 'task_begun'
  | 'task_acted'
  | 'task_act_kept'
  | 'task_asked'
  | 'task_ending'
  | 'task_ended'
  | 'effect_begun'
  | 'effect_done';
