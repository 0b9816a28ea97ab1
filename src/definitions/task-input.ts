/**
 * What authors pass to `defineTask`: the adapter's functions and settings. Types alone; `define-task.ts` checks them.
 */
import type { AgentAdapter, TaskSettings } from '../core/author/task.ts';

export interface TaskInput<State = unknown, Action = unknown>
  extends AgentAdapter<State, Action>,
    TaskSettings {}
