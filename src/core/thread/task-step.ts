/** What crosses Temporal between a task's workflow and its activities. As in `step.ts`: ids, names, flags; states, actions and results stay in the store. */
import type { StoppedBy, TaskEnd, TaskLimitName } from '../task/control.ts';
import type { Settings } from './open-thread.ts';
import type { RunRef } from './step.ts';
import type { TaskStart } from './task-start.ts';
import type { WaitingCall } from './waiting-call.ts';

/** `threadId` is `task/` and the task's id: under it stands all that the store has of the task. */
export interface OpenTaskInput {
  readonly threadId: string;
  /** The store that it has used so far; absent in its first run. */
  readonly storeId?: string;
  /** What it is started with; absent once it has run. */
  readonly start?: Omit<TaskStart, 'id' | 'storeId'>;
}

/** How a task ended, as its workflow answers; the store has all of it. */
export interface TaskOutcome {
  readonly status: TaskEnd;
  readonly stoppedBy: StoppedBy;
  readonly pass: boolean;
  /** The first 500 characters. */
  readonly reason: string;
}

export type OpenTaskOutcome =
  | { readonly kind: 'over'; readonly storeId: string; readonly outcome: TaskOutcome }
  | {
      readonly kind: 'open';
      readonly storeId: string;
      readonly settings: Settings;
      /** Of its family; absent where it has no parent. */
      readonly rootId?: string;
      /** The step that is to be taken, or taken up again. */
      readonly step: number;
      /** Its verdict is stored: it is to be ended. */
      readonly stops?: true;
      /** What must be known is known; else the preflight comes first. */
      readonly ready: boolean;
      /** Milliseconds of work that its budget has left. */
      readonly wallLeftMs: number;
    };

export interface TaskStepInput extends RunRef {
  readonly step: number;
}

/** The preflight has come to an end, waits for answers, or ends the task. */
export type ReadinessOutcome = { readonly kind: 'ready' } | TaskPause;

/** What every phase may come to, beside going on. */
export type TaskPause =
  | WaitingCall
  /** A thread that it waits for is not at rest yet: the same again in so many milliseconds. */
  | { readonly kind: 'looks'; readonly inMs: number }
  /** The verdict is stored. */
  | { readonly kind: 'stops' }
  /** It was ended through another run, or by code of the project. */
  | { readonly kind: 'terminated' };

export type ThoughtOutcome =
  /** It is to act. */
  | { readonly kind: 'acts' }
  /** What was asked is answered: the next step. */
  | { readonly kind: 'goes_on' }
  | TaskPause;

/** `next`: what the step behind it has come to think, in the same activity; absent where it has yet to think. */
export type ActAttempt = { readonly kind: 'acted'; readonly next?: ThoughtOutcome } | TaskPause;

/** What ends a task from outside of its adapter. */
export interface TaskCause {
  readonly stoppedBy: StoppedBy;
  readonly reason: string;
  readonly limit?: TaskLimitName;
}

export interface EndTaskInput extends TaskStepInput {
  /** Absent where the verdict is stored. */
  readonly cause?: TaskCause;
}
