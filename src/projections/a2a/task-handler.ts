/** Handlers of log rows by kind: each returns the new state of the task and the frames that the row emits. */
import type { EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { A2aFrame } from './a2a-shape.ts';
import type { OpenTask } from './task-state.ts';

export type TaskTransition = readonly [OpenTask, readonly A2aFrame[]];

/** Rows of a kind without a handler emit nothing. */
export type TaskHandlers = {
  readonly [Kind in EventKind]?: (open: OpenTask, event: ThreadEventOf<Kind>) => TaskTransition;
};
