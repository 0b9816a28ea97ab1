/** Reads a thread's log in the forms that the API serves, as pages of frames, each with its cursor. */
import { type FollowPages, followPages } from '../../client/follow-events.ts';
import { formPages } from '../../client/follow-run.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { LogForm } from '../../projections/log-form.ts';
import { afterRow, readCursor } from '../../projections/projection.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { Frame } from './log-stream.ts';
import { refuseRequest } from './problem.ts';

export interface EventReading {
  readonly threadId: string;
  readonly as?: 'plain' | LogForm | undefined;
  readonly run?: string | undefined;
  readonly types?: string | undefined;
  /** The result of `eventStart`. */
  readonly start: string;
  /** True if the thread has a parent. */
  readonly subagent?: boolean;
  readonly follow?: FollowPages['follow'];
  readonly signal?: AbortSignal;
}

/**
 * Returns the cursor to begin behind. Throws `InvalidRequest` for an invalid cursor, and `InvalidCursor` for one above
 * the log's end, which must come from another store.
 */
export function eventStart(
  as: EventReading['as'],
  after: string | undefined,
  { id, lastSeq }: ThreadRecord,
): string {
  if (after === 'now') return isProjected(as) ? afterRow(lastSeq) : String(lastSeq);
  if (after === undefined || after === '0') return '0';
  const row = rowOf(as, after);
  if (row > lastSeq)
    throw new RuntimeError(
      'InvalidCursor',
      `The cursor "${after}" is beyond the end of the log of thread "${id}" (${lastSeq}): read it from the beginning.`,
    );
  return after;
}

/** True if cursors of this form have two numbers: the row, and the position in it. */
function isProjected(as: EventReading['as']): boolean {
  return as !== undefined && as !== 'plain';
}

function rowOf(as: EventReading['as'], cursor: string): number {
  if (isProjected(as)) return readCursor(cursor).row;
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  return refuseRequest(
    `"${cursor.slice(0, 64)}" is not a cursor: use the number that was returned with an event.`,
  );
}

/** Yields an empty page at the end of the log for now. */
export async function* eventPages(
  client: RuntimeClient,
  { threadId, as = 'plain', run, types, start, subagent = false, follow = true, signal }: EventReading,
): AsyncGenerator<readonly Frame[]> {
  const store = client.store;
  if (as !== 'plain') {
    const after = start === '0' ? undefined : start;
    const options = { after, run, follow, signal, marks: true, subagent };
    for await (const page of formPages(store, threadId, as, options))
      yield page.map(({ cursor, event }) => ({ cursor, data: event }));
    return;
  }
  const kinds = types === undefined ? null : new Set(types.split(','));
  const reading = { after: Number(start), follow, signal, marks: true };
  for await (const page of followPages(store, threadId, reading)) {
    const wanted = kinds ? page.filter(({ type }) => kinds.has(type)) : page;
    // A page of unwanted rows is skipped: as an empty page it would mark the end of the log.
    if (wanted.length > 0 || page.length === 0)
      yield wanted.map((event) => ({ cursor: String(event.seq), data: event }));
  }
}
