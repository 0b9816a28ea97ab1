/** State of the projection between two rows: the task so far, its open text and its open waits. Plain JSON. */
import type { NamedWait } from '../../core/event/event-shape.ts';
import type { RowMessage } from '../row-message.ts';
import { type A2aMessage, type A2aTask, toTimestamp } from './a2a-shape.ts';

export type OpenWait = Pick<NamedWait, 'waitId' | 'kind' | 'name'> & { readonly summary: string };

export interface OpenTask {
  readonly task: A2aTask;
  /** Id of the artifact whose text is being streamed. */
  readonly text: string | null;
  /** Open waits by id. */
  readonly waits: Readonly<Record<string, OpenWait>>;
  /** The newest message so far: the row that refers to it follows. */
  readonly said: RowMessage | null;
}

export interface TaskReading {
  /** The thread's id. */
  readonly contextId: string;
  /** Messages of users since the last step; the next execution begins with them. */
  readonly received: readonly Omit<A2aMessage, 'taskId'>[];
  /** Null between executions. */
  readonly open: OpenTask | null;
  /** The last task that has ended. */
  readonly ended: A2aTask | null;
}

export function beginTasks(contextId: string): TaskReading {
  return { contextId, received: [], open: null, ended: null };
}

export function openTask({ contextId, received }: TaskReading, id: string, at: number): OpenTask {
  const task: A2aTask = {
    id,
    contextId,
    status: { state: 'TASK_STATE_WORKING', timestamp: toTimestamp(at) },
    artifacts: [],
    history: received.map((message) => ({ ...message, taskId: id })),
  };
  return { task, text: null, waits: {}, said: null };
}
