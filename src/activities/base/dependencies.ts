/** What activities are given by the composition root: ports and settings, never globals. */
import type { Settings } from '../../core/thread/open-thread.ts';
import type { AuthorRun } from '../../state/author-run.ts';
import type { StateDependencies } from '../../state/dependencies.ts';

export interface ActivityDependencies extends StateDependencies {
  readonly settings: Settings;
  /** A stop has reached all work of the thread by then, whichever worker does it. */
  readonly stopWithinMs: number;
  /** Fires when this worker is told to go (SIGTERM): it begins nothing new, and what asks a model may end within its grace. */
  readonly leaving: AbortSignal;
  /** Fires when that grace is over: whatever asks a model is another worker's. */
  readonly handover: AbortSignal;
  /** Where work that is suspect runs; absent where it can run nowhere but here. */
  readonly alone?: RunAlone;
  /** Work that ran when the process before this one fell: a local activity does not tell that it is tried again. */
  readonly suspects?: ReadonlySet<string>;
  /** This process was made for one piece of work. */
  readonly lone?: boolean;
  /** Names the places where a fault test may kill the worker; absent in production. */
  readonly probe?: (point: FaultPoint) => void | Promise<void>;
}

/** What can be asked of a lone process. An effect goes as it was begun. */
export type LoneActivity =
  | 'modelStep'
  | 'runTool'
  | 'runCode'
  | 'runSubprompt'
  | 'finishSubprompt'
  | 'callSubagent'
  | 'finishSubagent'
  | 'checkTask'
  | 'thinkTask'
  | 'actTask'
  | 'endTask'
  | 'runEffect';

/** Runs an activity in a process of its own. Its death counts against the unit, and is thrown as a failure to try again. */
export type RunAlone = (activity: LoneActivity, input: unknown, unit: AuthorRun) => Promise<unknown>;

export type FaultPoint =
  | 'thread_opening'
  | 'step_begun'
  | 'summarised'
  | 'summary_kept'
  | 'model_streaming'
  | 'model_answered'
  | 'model_committed'
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
