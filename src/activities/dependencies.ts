/** What activities are given by the composition root: ports and settings, never globals. */
import type { Registry } from '../core/definition.ts';
import type { Settings } from '../core/step.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { ThreadStore } from '../store/port.ts';

export interface ActivityDependencies {
  readonly store: ThreadStore;
  /** The project as it is now: `everthread dev` replaces it when a file changes. */
  readonly registry: () => Registry;
  readonly settings: Settings;
  /** Runs the code of tools, and of models. */
  readonly sandbox: Sandbox;
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
  | 'status_committed';
