/**
 * What crosses Temporal between a task's workflow and its activities. As in `step.ts`: ids, names, flags. States,
 * actions and results stay in the store.
 */
import type { StoppedBy, TaskEnd, TaskLimitName } from '../task/control.ts';
import type { Settings } from './open-thread.ts';
import type { RunRef, WaitingCall } from './step.ts';
import type { TaskStart } from './task-start.ts';

/** `threadId` is `task/` and the task's id: the store keeps everything about the task under it. */
export interface OpenTaskInput {
  readonly threadId: string;
  /** Id of the store that the task has used so far; absent in its first run. */
  readonly storeId?: string;
  /** The task's start input; absent once the task has run. */
  readonly start?: Omit<TaskStart, 'id' | 'storeId'>;
}

/** How a task ended, as the result of its workflow; the store has the complete verdict. */
export interface TaskOutcome {
  readonly status: TaskEnd;
  readonly stoppedBy: StoppedBy;
  readonly pass: boolean;
}

export type OpenTaskOutcome =
  | { readonly kind: 'over'; readonly storeId: string; readonly outcome: TaskOutcome }
  | {
      readonly kind: 'open';
      readonly storeId: string;
      readonly settings: Settings;
      /** Root of the task's family; absent if the task has no parent. */
      readonly rootId?: string;
      /** The step to begin or to resume. */
      readonly step: number;
      /** Set if the task's verdict is stored: the task must be ended. */
      readonly stops?: true;
      /** True if the required knowledge is known; otherwise the preflight comes first. */
      readonly ready: boolean;
      /** Milliseconds of work that are left in the budget. */
      readonly wallLeftMs: number;
    };

export interface TaskStepInput extends RunRef {
  readonly step: number;
}

/** The preflight has come to an end, waits for answers, or ends the task. */
export type ReadinessOutcome = { readonly kind: 'ready' } | TaskPause;

/** The outcomes that any phase may have instead of going on. */
export type TaskPause =
  | WaitingCall
  /** An awaited thread is not at rest yet: check again in `inMs` milliseconds. */
  | { readonly kind: 'looks'; readonly inMs: number }
  /** The verdict is stored. */
  | { readonly kind: 'stops' }
  /** The task was ended by another run, or by code of the project. */
  | { readonly kind: 'terminated' };

export type ThoughtOutcome =
  /** The task must act. */
  | { readonly kind: 'acts' }
  /** The question has been answered: the next step follows. */
  | { readonly kind: 'goes_on' }
  | TaskPause;

/** `next`: the decision of the following step, if made in the same activity; absent if that step must still decide. */
export type ActAttempt = { readonly kind: 'acted'; readonly next?: ThoughtOutcome } | TaskPause;

/** Why a task is ended by something other than its adapter. */
export interface TaskCause {
  readonly stoppedBy: StoppedBy;
  readonly reason: string;
  /** Id under which a client has stored the reason. */
  readonly stored?: string;
  readonly limit?: TaskLimitName;
}

export interface EndTaskInput extends TaskStepInput {
  /** Absent if the verdict is already stored. */
  readonly cause?: TaskCause;
}
