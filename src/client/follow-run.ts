/**
 * Reads a thread's log through a projection, and follows it. A reading begins at the start of the execution that its
 * cursor lies in, so its events do not depend on where it resumes.
 */
import { RuntimeError } from '../core/value/error.ts';
import type { RuntimeEvent } from '../projections/agenticx/agenticx-event.ts';
import { projectTurns } from '../projections/agenticx/agenticx-projection.ts';
import { beginTurns } from '../projections/agenticx/agenticx-state.ts';
import type { Cursor, LogRow, Projected, Projection } from '../projections/projection.ts';
import { readCursor, withCursors } from '../projections/projection.ts';
import type { RunEvent } from '../projections/run/run-event.ts';
import { projectRun } from '../projections/run/run-projection.ts';
import { beginReading, type RunBegin } from '../projections/run/run-state.ts';
import type { TangleEvent } from '../projections/tangle/tangle-event.ts';
import { projectTangle } from '../projections/tangle/tangle-projection.ts';
import { beginTangle } from '../projections/tangle/tangle-state.ts';
import type { ThreadStore } from '../store/store.ts';
import { type FollowPages, followRows } from './follow-events.ts';
import { type FindThread, requireThread } from './known-thread.ts';
import { type LogPart, type RemovedPart, RemovedText } from './removed-text.ts';
import { type RunRecord, toRunRecord } from './run-record.ts';

export interface FollowProjected {
  /** Only events after this cursor; all events unless given. */
  readonly after?: string | undefined;
  /** Id of an execution: only its events are read, and the reading ends with the last of them. */
  readonly run?: string | undefined;
  /** If false, stops at the current end of the log. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

export interface FollowRunOptions extends FollowProjected {
  readonly as: 'run';
}

export interface FollowTurnsOptions extends FollowProjected {
  readonly as: 'agenticx';
  /** The `agent_id` of every event; unless given, `meta`, or for a subagent the id of its thread. */
  readonly agentId?: string;
}

export interface FollowTangleOptions extends FollowProjected {
  readonly as: 'tangle';
}

/** Options for reading events in pages, one for each page of log rows. */
export interface FollowProjectedPages extends Omit<FollowProjected, 'follow'>, Pick<FollowPages, 'follow'> {
  /** If true, an empty page is yielded once each time the reader has caught up with the log. */
  readonly marks?: boolean;
}

export async function* followRun(
  store: ThreadStore,
  threadId: string,
  options: FollowProjected,
): AsyncGenerator<Projected<RunEvent>> {
  for await (const page of runPages(store, threadId, options)) yield* page;
}

export function runPages(
  store: ThreadStore,
  threadId: string,
  options: FollowProjectedPages,
): AsyncGenerator<readonly Projected<RunEvent>[]> {
  return projectedPages(store, { threadId, ...options }, { begin: beginReading, project: projectRun });
}

/** Throws `ThreadNotFound`. */
export async function* followTurns(
  store: ThreadStore,
  threadId: string,
  { agentId, ...options }: Omit<FollowTurnsOptions, 'as'>,
  findAccepted?: FindThread,
): AsyncGenerator<Projected<RuntimeEvent>> {
  const subagent = (await requireThread(store, threadId, findAccepted)).parentId !== null;
  for await (const page of turnPages(store, threadId, { ...options, agentId, subagent })) yield* page;
}

/** `subagent`: true if the thread has a parent. */
export function turnPages(
  store: ThreadStore,
  threadId: string,
  {
    agentId,
    subagent,
    ...options
  }: FollowProjectedPages & { readonly agentId?: string | undefined; readonly subagent: boolean },
): AsyncGenerator<readonly Projected<RuntimeEvent>[]> {
  const begin = () => beginTurns({ agentId: agentId ?? (subagent ? threadId : undefined), subagent });
  const reader = { begin, project: projectTurns, tellsWhole: true };
  return projectedPages(store, { threadId, ...options }, reader);
}

export async function* followTangle(
  store: ThreadStore,
  threadId: string,
  options: FollowProjected,
): AsyncGenerator<Projected<TangleEvent>> {
  for await (const page of tanglePages(store, threadId, options)) yield* page;
}

/** Reads the events of one execution (`run`), or of all. */
export function tanglePages(
  store: ThreadStore,
  threadId: string,
  options: FollowProjectedPages,
): AsyncGenerator<readonly Projected<TangleEvent>[]> {
  const reader = { begin: () => beginTangle(threadId), project: projectTangle, tellsWhole: true };
  return projectedPages(store, { threadId, ...options }, reader);
}

interface ProjectionReader<State, Out> {
  readonly begin: (at: RunBegin) => State;
  readonly project: Projection<State, Out>;
  /** If true, a reader that has seen none of the removed pieces receives the whole text, too. */
  readonly tellsWhole?: boolean;
}

async function* projectedPages<State, Out>(
  store: ThreadStore,
  { threadId, after, run, follow, signal, marks }: FollowProjectedPages & { readonly threadId: string },
  { begin, project, tellsWhole = false }: ProjectionReader<State, Out>,
): AsyncGenerator<readonly Projected<Out>[]> {
  const cursor = after === undefined ? undefined : readCursor(after);
  const only = run === undefined ? undefined : await requireRun(store, run, threadId);
  const begun = only ?? (cursor && (await store.executions.at(threadId, cursor.row)));
  // An execution that is older than the index has no `firstSeq`: the log is read from its beginning.
  const before = begun?.firstSeq ? begun.firstSeq - 1 : 0;
  let reading = begin({ threadId, after: before, agent: before > 0 ? begun?.agent : null });
  let open: string | null = null;
  const text = new RemovedText(store, threadId, before);
  for await (const page of followRows(store, threadId, { after: before, follow, signal, marks })) {
    const outgoing: Projected<Out>[] = [];
    let ended = false;
    const parts: LogPart[] = [];
    for (const event of page) parts.push(...(await text.read(event)));
    for (const row of await fillParts(store, threadId, parts)) {
      if ('removed' in row) {
        const { removed } = row;
        const [next, whole] = project(reading, { event: removed.text });
        const [, forget] = project(reading, { event: removed.discarded });
        reading = next;
        const texts = { forget, whole: tellsWhole ? whole : [], again: whole };
        if (!only || open === only.id) outgoing.push(...toRestoredText(removed, texts, cursor));
        continue;
      }
      const { event } = row;
      const [next, events] = project(reading, row);
      reading = next;
      if (event.type === 'execution.started') open = event.data.executionId;
      if (!only || open === only.id) outgoing.push(...withCursors(row, events, cursor));
      if (event.type !== 'execution.ended') continue;
      ended = only !== undefined && open === only.id;
      if (ended) break;
      open = null;
    }
    // Rows without events yield no page: an empty page would be taken for a mark.
    if (outgoing.length > 0 || page.length === 0) yield outgoing;
    if (ended) return;
  }
}

/** Rejects with `ExecutionNotFound`. */
export async function requireRun(store: ThreadStore, id: string, threadId?: string): Promise<RunRecord> {
  const found = await store.executions.find(id, threadId);
  if (found) return toRunRecord(found);
  const where = threadId === undefined ? 'in this store' : `in thread "${threadId}"`;
  throw new RuntimeError(
    'ExecutionNotFound',
    `There is no execution "${id}" ${where}: "everthread runs list" lists the executions.`,
  );
}

interface RemovedTextEvents<Out> {
  readonly forget: readonly Out[];
  /** `whole` is for a reader that has seen none of the text, `again` for one that has seen some. */
  readonly whole: readonly Out[];
  readonly again: readonly Out[];
}

/** Returns a text whose pieces were removed, under the cursor of the last piece. */
function toRestoredText<Out>(
  { first, last, begun }: RemovedPart,
  { forget, whole, again }: RemovedTextEvents<Out>,
  after?: Cursor,
): readonly Projected<Out>[] {
  const seen = after?.row ?? 0;
  if (seen > last) return [];
  const shown = begun || seen >= first ? [...forget, ...again] : whole;
  return shown.map((event) => ({ cursor: `${last}.0`, event }));
}

/** Adds to each row the message or context that it refers to, in its current state. */
export async function fillRows(
  store: ThreadStore,
  threadId: string,
  page: readonly LogRow['event'][],
): Promise<LogRow[]> {
  const parts = page.map((event) => ({ event }));
  return (await fillParts(store, threadId, parts)).flatMap((row) => ('removed' in row ? [] : [row]));
}

function fillParts(
  store: ThreadStore,
  threadId: string,
  parts: readonly LogPart[],
): Promise<(LogRow | { readonly removed: RemovedPart })[]> {
  return Promise.all(
    parts.map(async (part) => {
      if ('removed' in part) return part;
      const { event } = part;
      if (event.type === 'execution.started' && event.data.runId !== undefined)
        return { event, context: await readContext(store, threadId, event.data.executionId) };
      // No projection reads the content of system messages.
      if (event.type !== 'message.created' || event.data.role === 'system') return { event };
      return { event, message: await store.messages.get(threadId, event.data.messageId) };
    }),
  );
}

async function readContext(store: ThreadStore, threadId: string, id: string): Promise<LogRow['context']> {
  const found = await store.executions.get(threadId, id);
  return found?.contextGiven ? found.context : null;
}
