/**
 * A projection converts a thread's log to events of some protocol (docs/runs.md): a pure function of its state and the
 * next row. The same rows always give the same outgoing events, whoever reads them, whenever, and however often.
 * - A row gives its outgoing events together, and a cursor `<row>.<n>` names one of them. So a reader that resumes
 *   within a row receives none of its events twice.
 * - Rows are numbered without gaps, and only rows of `model.chunk` are ever removed. So the size of a gap is the
 *   number of removed rows.
 */
import type { ThreadEvent } from '../core/event/thread-event.ts';
import type { TracedExecution } from '../core/event/traced-row.ts';
import type { RunContext } from '../core/governance/run-context.ts';
import type { Message } from '../core/message/message.ts';
import { RuntimeError } from '../core/value/error.ts';

/** A row of the log, with what it refers to. */
export interface LogRow {
  readonly event: ThreadEvent;
  /** For `message.created`: the message in its current state; null if it was deleted. */
  readonly message?: Message | null;
  /** For `execution.started`: the context of the run; absent or null if none was given. */
  readonly context?: RunContext | null;
  /** For `execution.started`, if the form shows ids of spans. */
  readonly execution?: TracedExecution;
}

export type Projection<State, Out> = (state: State, row: LogRow) => readonly [State, readonly Out[]];

/** An outgoing event, and the cursor to resume after it. */
export interface Projected<Out> {
  /** `<row>.<n>`: the row's number in the log, and the event's place among those of its row, from 0. */
  readonly cursor: string;
  readonly event: Out;
}

export interface Cursor {
  readonly row: number;
  readonly n: number;
}

/** Throws `InvalidValue` if the text is not a cursor. */
export function readCursor(text: string): Cursor {
  const [, row, n] = /^(\d{1,15})\.(\d{1,9})$/.exec(text) ?? [];
  if (row === undefined || n === undefined)
    throw new RuntimeError(
      'InvalidValue',
      `"${text.slice(0, 64)}" is not a valid cursor: pass the "<row>.<n>" of an event.`,
    );
  return { row: Number(row), n: Number(n) };
}

/** Second number of a cursor that lies behind all events of a row. */
const LAST_OF_ROW = 999_999_999;

/** The cursor to begin after a row of the log. */
export const afterRow = (row: number): string => `${row}.${LAST_OF_ROW}`;

/** Adds a cursor to each event of a row. With `after`, drops the events up to that cursor. */
export function withCursors<Out>(
  { event: { seq } }: LogRow,
  outgoing: readonly Out[],
  after?: Cursor,
): readonly Projected<Out>[] {
  const rows = outgoing.map((event, n) => ({ cursor: `${seq}.${n}`, event }));
  if (!after || seq > after.row) return rows;
  return seq < after.row ? [] : rows.slice(after.n + 1);
}
