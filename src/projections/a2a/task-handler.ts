/** What reads a row of one kind: what is known of the task behind it, and what the row tells. */
import type { EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { A2aFrame } from './a2a-shape.ts';
import type { OpenTask } from './task-state.ts';

export type TaskTold = readonly [OpenTask, readonly A2aFrame[]];

/** By kind; a kind without one tells nothing. */
export type TaskHandlers = {
  readonly [Kind in EventKind]?: (open: OpenTask, event: ThreadEventOf<Kind>) => TaskTold;
};
