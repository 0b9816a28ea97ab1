/**
 * Reads a thread's log through a projection, and follows it. A reading begins at the start of the execution that its
 * cursor lies in, so its events do not depend on where it resumes.
 */
import { readTraces } from '../configuration.ts';
import type { TracedExecution } from '../core/event/traced-row.ts';
import { RuntimeError } from '../core/value/error.ts';
import type { FollowProjected, FormEvents, LogForm } from '../projections/log-form.ts';
import { type FormReader, LOG_READERS } from '../projections/log-reader.ts';
import type { Cursor, LogRow, Projected } from '../projections/projection.ts';
import { readCursor, withCursors } from '../projections/projection.ts';
import { completeExecution } from '../projections/trace/caller-trace.ts';
import type { ThreadStore } from '../store/store.ts';
import { type FollowPages, followRows } from './follow-events.ts';
import { HistoryRows } from './history-rows.ts';
import { type FindThread, requireThread } from './known-thread.ts';
import { type LogPart, type RemovedPart, RemovedText } from './removed-text.ts';
import { type RunRecord, toRunRecord } from './run-record.ts';

/** Options for reading events in pages, one for each page of log rows. */
export interface FollowForm extends Omit<FollowProjected, 'follow'>, Pick<FollowPages, 'follow'> {
  readonly agentId?: string | undefined;
  /** True if the thread has a parent. */
  readonly subagent?: boolean;
  /** If true, an empty page is yielded once each time the reader has caught up with the log. */
  readonly marks?: boolean;
}

/** Throws `ThreadNotFound` if the form depends on the thread's parent, and `ExecutionNotFound`. */
export async function* followForm<Form extends LogForm>(
  store: ThreadStore,
  threadId: string,
  { as, ...options }: FollowForm & { readonly as: Form },
  findAccepted?: FindThread,
): AsyncGenerator<Projected<FormEvents[Form]>> {
  const subagent =
    LOG_READERS[as].ofFamily && (await requireThread(store, threadId, findAccepted)).parentId !== null;
  for await (const page of formPages(store, threadId, as, { ...options, subagent })) yield* page;
}

export async function* formPages<Form extends LogForm>(
  store: ThreadStore,
  threadId: string,
  form: Form,
  { after, run, follow, signal, marks, agentId, subagent }: FollowForm,
): AsyncGenerator<readonly Projected<FormEvents[Form]>[]> {
  const {
    begin,
    project,
    tellsWhole = false,
    ofTrace = false,
  }: FormReader<unknown, FormEvents[Form]> = LOG_READERS[form];
  const cursor = after === undefined ? undefined : readCursor(after);
  const only = run === undefined ? undefined : await requireRun(store, run, threadId);
  const begun = only ?? (cursor && (await store.executions.at(threadId, cursor.row)));
  // An execution that is older than the index has no `firstSeq`: the log is read from its beginning.
  const before = begun?.firstSeq ? begun.firstSeq - 1 : 0;
  let reading = begin({
    threadId,
    agentId,
    subagent,
    after: before,
    agent: before > 0 ? begun?.agent : null,
  });
  let open: string | null = null;
  const text = new RemovedText(store, threadId, before);
  // Whoever asks for one execution gets it, even a superseded one.
  const history = only ? undefined : await HistoryRows.of(store, threadId);
  for await (const page of followRows(store, threadId, { after: before, follow, signal, marks })) {
    const outgoing: Projected<FormEvents[Form]>[] = [];
    let ended = false;
    const parts: LogPart[] = [];
    for (const event of page) if (!history || history.has(event)) parts.push(...(await text.read(event)));
    for (const row of await fillParts(store, threadId, parts, ofTrace)) {
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
  ofTrace = false,
): Promise<(LogRow | { readonly removed: RemovedPart })[]> {
  return Promise.all(
    parts.map(async (part) => {
      if ('removed' in part) return part;
      const { event } = part;
      if (event.type === 'execution.started') {
        const { executionId, runId } = event.data;
        return {
          event,
          ...(runId === undefined ? {} : { context: await readContext(store, threadId, executionId) }),
          ...(ofTrace ? { execution: await readTraced(store, threadId, executionId) } : {}),
        };
      }
      // No projection reads the content of system messages.
      if (event.type !== 'message.created' || event.data.role === 'system') return { event };
      return { event, message: await store.messages.get(threadId, event.data.messageId) };
    }),
  );
}

async function readTraced({ traces }: ThreadStore, threadId: string, id: string): Promise<TracedExecution> {
  const parts = readTraces(process.env) === 'parts';
  return completeExecution(await traces.describe(threadId, id), { parts, read: traces.read });
}

async function readContext(store: ThreadStore, threadId: string, id: string): Promise<LogRow['context']> {
  const found = await store.executions.get(threadId, id);
  return found?.contextGiven ? found.context : null;
}
