/**
 * Executions that code of one process produces, tasks whose adapter lives in one process, and the presence of that
 * process. For a task, thread and execution id are both `task/` plus the task's id.
 */
import type { Produced, ProducedLine } from '../../core/thread/producer.ts';
import type { Json } from '../schema/column.ts';

export interface ProducerRef {
  readonly threadId: string;
  readonly executionId: string;
  /** Secret id made by the process that claims it. For a task: the queue that its adapter works for. */
  readonly holder: string;
}

export interface ProducerPresence extends ProducerRef {
  /** Milliseconds from now for which the process counts as present. */
  readonly presenceMs: number;
}

export interface AppendProduced extends ProducerPresence {
  /** Number of lines sent before these, so that the same lines given twice are logged once. */
  readonly from: number;
  readonly lines: readonly ProducedLine[];
}

export interface ProducerRecord {
  /** `lost`: a task was ended because its process was lost, and its workflow may still exist. */
  readonly state: 'open' | 'lost' | 'ended';
  /** Null while it is open, and for a task. */
  readonly produced: Produced | null;
  /** True if it is open and the presence of its process has expired. */
  readonly overdue: boolean;
  /** Last number of the thread's log when this was read; awaited events come after it. */
  readonly lastSeq: number;
}

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
