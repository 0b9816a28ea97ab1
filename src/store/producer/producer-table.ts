/**
 * Executions that code of one process produces, and tasks whose adapter lives in one process. For a task, thread and
 * execution id are both `task/` plus the task's id.
 */
import type { Json } from '../schema/json.ts';

export interface ProducerTable {
  thread_id: string;
  execution_id: string;
  /** Id of the process that has claimed it. For a task: the queue that its adapter works for. */
  holder: string;
  /** `lost`: a task was ended because its process was lost, and its workflow may still exist. */
  state: 'open' | 'lost' | 'ended';
  /** Number of lines in its log. */
  lines: number;
  /** Until when its process counts as present: microseconds, by the one clock that all processes of the store share. */
  present_until: number;
  /** The result, a `Produced`; null while it is open, and for a task. */
  produced: Json | null;
}

export interface ProducerTables {
  producers: ProducerTable;
}
