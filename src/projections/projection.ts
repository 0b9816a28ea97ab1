/**
 * A projection is one reading of a thread's log (docs/runs.md): a pure function of what it knows and the next row. The same rows give
 * the same outgoing events, whoever reads them, whenever, and however often.
 * J1. A row gives its outgoing events together; a cursor `<row>.<n>` names one of them, so that a reader who comes back gets no half of
 *     a row twice.
 * J2. Rows are numbered without gaps, and only rows of `model.chunk` are ever removed: a gap tells how many were there.
 */
import type { ThreadEvent } from '../core/event/thread-event.ts';
import type { RunContext } from '../core/governance/run-context.ts';
import type { Message } from '../core/message/message.ts';
import { RuntimeError } from '../core/value/error.ts';

/** A row of the log, with what it points to. */
export interface LogRow {
  readonly event: ThreadEvent;
  /** Of `message.created`: the message as it is now; null where it was deleted. */
  readonly message?: Message | null;
  /** Of `execution.started`: what the execution runs with, where anybody has given anything. */
  readonly context?: RunContext | null;
}

export type Projection<State, Out> = (state: State, row: LogRow) => readonly [State, readonly Out[]];

/** An outgoing event, and where a reader goes on behind it. */
export interface Projected<Out> {
  /** `<row>.<n>`: the row's number in the log, and the event's place among those of its row, from 0. */
  readonly cursor: string;
  readonly event: Out;
}

export interface Cursor {
  readonly row: number;
  readonly n: number;
}

/** Throws `InvalidValue` for what is no cursor. */
export function readCursor(text: string): Cursor {
  const [, row, n] = /^(\d{1,15})\.(\d{1,9})$/.exec(text) ?? [];
  if (row === undefined || n === undefined)
    throw new RuntimeError(
      'InvalidValue',
      `"${text.slice(0, 64)}" is no cursor: it is "<row>.<n>", as came with an event.`,
    );
  return { row: Number(row), n: Number(n) };
}

/** What one row gives, each with its cursor (J1); without what a cursor has seen. */
export function withCursors<Out>(
  { event: { seq } }: LogRow,
  outgoing: readonly Out[],
  after?: Cursor,
): readonly Projected<Out>[] {
  const told = outgoing.map((event, n) => ({ cursor: `${seq}.${n}`, event }));
  if (!after || seq > after.row) return told;
  return seq < after.row ? [] : told.slice(after.n + 1);
}
