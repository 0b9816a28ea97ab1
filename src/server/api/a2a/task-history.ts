/** Limits a task's history to its newest messages; all of them unless a length is given. */
import type { A2aTask } from '../../../projections/a2a/a2a-shape.ts';

export function withHistory({ history, ...task }: A2aTask, length?: number): A2aTask {
  return { ...task, history: length === undefined ? history : length === 0 ? [] : history.slice(-length) };
}
