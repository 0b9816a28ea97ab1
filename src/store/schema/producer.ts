/** Executions that code of one process produces. */
import type { Json } from './tables.ts';

export interface ProducerTable {
  thread_id: string;
  execution_id: string;
  holder: string;
  state: 'open' | 'ended';
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
