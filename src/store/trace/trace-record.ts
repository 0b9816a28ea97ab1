/** How far the log of each thread was given out as spans. Only workers with an OpenTelemetry SDK write and read it. */
import type { TracedRow } from '../../core/event/traced-row.ts';
import type { Json } from '../schema/column.ts';

export interface TraceTable {
  thread_id: string;
  /** Number of the last row that was read. */
  seq: number;
  /** State of the projection after that row. */
  state: Json;
}

export interface TraceCursor {
  readonly seq: number;
  /** Null at the beginning of a thread, or of an execution. */
  readonly state: unknown;
}

/** A page of rows of the log that were not given out yet, with what other rows say of them. */
export interface UntracedRows {
  readonly cursor: TraceCursor;
  readonly rows: readonly TracedRow[];
  /** Number of the last row of the page; further ones may follow. */
  readonly seq: number;
  readonly more: boolean;
}

export interface SaveTrace {
  readonly threadId: string;
  readonly seq: number;
  readonly state: unknown;
}
