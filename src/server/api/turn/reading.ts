/**
 * Reads the response to a request from its thread's log: from where it begins to the end of its execution, or until a
 * person is waited for.
 * - A response that begins in the middle of an execution is read from the execution's start. Output starts where the
 *   response begins.
 * - A wait ends the response only at the end of the log for now. If it was answered since, more rows follow.
 */
import { followPages } from '../../../client/follow-events.ts';
import { fillRows } from '../../../client/follow-run.ts';
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import type { ThreadEvent } from '../../../core/event/thread-event.ts';
import type { StoredError } from '../../../core/thread/step.ts';
import { isRuntimeError } from '../../../core/value/error.ts';
import type { Projection } from '../../../projections/projection.ts';
import type { ResponseBegin } from './begin.ts';

/** Converts a response to the output of one protocol. */
export interface ResponseReader<State, Out> {
  readonly begin: State;
  readonly project: Projection<State, Out>;
  /** Returns the open execution; null between executions. */
  readonly openOf: (state: State) => { readonly waiting: boolean } | null;
  /** Starts the output at this row, within an execution. `joins`: as a new response (see `ResponseBegin`). */
  readonly enter: (state: State, event: ThreadEvent, joins: boolean) => readonly [State, readonly Out[]];
  /** Output at a wait; none if the response continues. `isTold`: the output of the response has started. */
  readonly atWait: (state: State, isTold: boolean) => readonly Out[] | Promise<readonly Out[]>;
  /** Output if the response could not begin. */
  readonly failed: (error: StoredError) => readonly Out[];
  /** Output if the thread was terminated before the response ended. */
  readonly terminated: readonly Out[];
}

export interface ReadResponse {
  readonly threadId: string;
  readonly begin: ResponseBegin;
  readonly signal: AbortSignal;
}

interface ReadingState<State> {
  readonly reading: State;
  /** `next`: the next execution is the response. */
  readonly place: 'before' | 'next' | 'in' | 'over';
  /** The newest thread status in the log. */
  readonly status: string | null;
}

/** Yields an empty page at the end of the log for now. */
export async function* responsePages<State, Out>(
  client: RuntimeClient,
  reader: ResponseReader<State, Out>,
  { threadId, begin, signal }: ReadResponse,
): AsyncGenerator<readonly Out[]> {
  const store = client.store;
  let state: ReadingState<State> = {
    reading: reader.begin,
    place: begin.isBegin ? 'before' : 'next',
    status: null,
  };
  for await (const page of followPages(store, threadId, { after: begin.after, signal, marks: true })) {
    const outs: Out[] = [];
    for (const row of await fillRows(store, threadId, page)) {
      const [reading, outgoing] = reader.project(state.reading, row);
      const status = statusOf(row.event) ?? state.status;
      const [next, before] = advance(reader, { reading, place: state.place, status }, row.event, begin);
      outs.push(...before);
      if (next.place === 'in' || (next.place === 'over' && state.place === 'in')) outs.push(...outgoing);
      state = next;
      if (state.place === 'over') break;
    }
    const ending = page.length === 0 ? await endOf(client, reader, threadId, state) : [];
    yield [...outs, ...ending];
    if (state.place === 'over' || ending.length > 0) return;
  }
  // The log has ended: the thread is terminated.
  if (!signal.aborted) yield reader.terminated;
}

/** Returns the place of the reading after this row, and the output that comes before the row's own. */
function advance<State, Out>(
  reader: ResponseReader<State, Out>,
  current: ReadingState<State>,
  event: ThreadEvent,
  { isBegin, joins }: ResponseBegin,
): readonly [ReadingState<State>, readonly Out[]] {
  const to = (place: ReadingState<State>['place']) => ({ ...current, place });
  if (current.place === 'in') return [event.type === 'execution.ended' ? to('over') : current, []];
  if (current.place === 'next') return [event.type === 'execution.started' ? to('in') : current, []];
  if (!isBegin?.(event)) return [current, []];
  if (event.type === 'item.rejected') {
    const { code, reason } = event.data;
    return [to('over'), reader.failed({ code, message: reason })];
  }
  if (event.type === 'execution.started') return [to('in'), []];
  if (!reader.openOf(current.reading)) return [to('next'), []];
  const [reading, before] = reader.enter(current.reading, event, joins === true);
  return [{ ...to('in'), reading }, before];
}

function statusOf(event: ThreadEvent): string | null {
  return event.type === 'thread.status' ? event.data.status : null;
}

/** Returns nothing if more is to come. */
async function endOf<State, Out>(
  client: RuntimeClient,
  reader: ResponseReader<State, Out>,
  threadId: string,
  { reading, place, status }: ReadingState<State>,
): Promise<readonly Out[]> {
  const open = reader.openOf(reading);
  if (open?.waiting) return reader.atWait(reading, place === 'in');
  if (place === 'in' || open || (status !== 'failed' && status !== 'stopped')) return [];
  // The response could not begin: the thread's record has the reason.
  if (!(await isAtRest(client, threadId))) return [];
  const { lastError, stopReason } = await client.getThread(threadId);
  const message = stopReason ?? 'The thread is at rest.';
  return reader.failed(lastError ?? { code: 'ExecutionFailed', message });
}

/** True if store and workflow agree that the thread is at rest now. */
export function isAtRest(client: RuntimeClient, threadId: string): Promise<boolean> {
  return client.waitForIdle(threadId, { timeoutMs: 0 }).then(
    () => true,
    (error) => {
      if (isRuntimeError(error, 'Timeout')) return false;
      throw error;
    },
  );
}
