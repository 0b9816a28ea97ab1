/** Executions that code of one process produces, and tasks whose adapter one has: those stand under `task/` and their id as both thread and execution. */
import type { Json } from './tables.ts';

export interface ProducerTable {
  thread_id: string;
  execution_id: string;
  /** Of a task: the queue that its adapter works for. */
  holder: string;
  /** `lost`: a task has ended with its process, and its workflow may still be there. */
  state: 'open' | 'lost' | 'ended';
  /** How many lines its log has. */
  lines: number;
  /** Its process is present until then: microseconds, by the store's one clock. */
  present_until: number;
  /** Produced; null while it is open. */
  produced: Json | null;
}

export interface ProducerTables {
  producers: ProducerTable;
}
