/** What activities are given by the composition root: ports and settings, never globals. */
import type { Settings } from '../core/step.ts';
import type { StateDependencies } from '../state/dependencies.ts';

export interface ActivityDependencies extends StateDependencies {
  readonly settings: Settings;
  /** Fires when this worker must hand its work over (SIGTERM). */
  readonly handover: AbortSignal;
  /** Names the places where a fault test may kill the worker; absent in production. */
  readonly probe?: (point: FaultPoint) => void | Promise<void>;
}

export type FaultPoint =
  | 'thread_opening'
  | 'model_streaming'
  | 'model_answered'
  | 'model_committed'
  | 'tool_not_begun'
  | 'tool_committed'
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
  | 'effect_begun'
  | 'effect_done';
