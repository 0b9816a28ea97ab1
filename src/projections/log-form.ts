/**
 * The forms in which a thread's log can be read beside its own rows: the one list of them. Whoever reads a log names
 * a form (`as`) and needs no other module of this folder; log-reader.ts has their projections.
 */
import { checkFollowForm as checkForm } from '../core/author/read-options.ts';
import type { RuntimeEvent } from './agenticx/agenticx-event.ts';
import type { RunEvent } from './run/run-event.ts';
import type { StoryRow } from './story/story-row.ts';
import type { TangleEvent } from './tangle/tangle-event.ts';

export interface FollowProjected {
  /** Only events after this cursor; all events unless given. */
  readonly after?: string | undefined;
  /** Id of an execution: only its events are read, and the reading ends with the last of them. */
  readonly run?: string | undefined;
  /** If false, stops at the current end of the log. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

export interface FollowRunOptions extends FollowProjected {
  readonly as: 'run';
}

export interface FollowTurnsOptions extends FollowProjected {
  readonly as: 'agenticx';
  /** The `agent_id` of every event; unless given, `meta`, or for a subagent the id of its thread. */
  readonly agentId?: string;
}

export interface FollowTangleOptions extends FollowProjected {
  readonly as: 'tangle';
}

export interface FollowStoryOptions extends FollowProjected {
  readonly as: 'story';
}

/** The events of each form. */
export interface FormEvents {
  readonly run: RunEvent;
  readonly agenticx: RuntimeEvent;
  readonly tangle: TangleEvent;
  readonly story: StoryRow;
}

export type LogForm = keyof FormEvents;
/** Options of a reading in a form that is named by its type. */
export type FollowAs<Form extends LogForm> = FollowProjected & { readonly as: Form };

/** The form in which executions with ids of their senders are followed. */
export const EXECUTION_FORM = 'tangle';
export type ExecutionEvent = FormEvents[typeof EXECUTION_FORM];

export const LOG_FORMS = ['run', 'agenticx', 'tangle', 'story'] as const satisfies readonly LogForm[];

/** Throws `InvalidValue`. */
export const checkFollowForm = <T>(options: T): T => checkForm(options, LOG_FORMS);
