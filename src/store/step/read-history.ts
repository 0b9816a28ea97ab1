/**
 * The messages of a step's request, oldest first; a long thread is not read whole if a part of it is enough.
 * H1. The step's own execution is read whole, whatever the window says.
 * H2. Earlier messages are read newest first, page by page, until the window is full. It then begins with a user's
 *     message if it has one, since providers insist on that, and has no result whose call was left out.
 * H3. With two AI sides, each gets the other's messages as a user's, without the results of the other's tools: hooks
 *     see those, but they take no room.
 * H4. After a summary, the messages that it covers are not read, not even those of the step's own execution.
 */
import { type Kysely, type Selectable, type SelectQueryBuilder, sql, type Transaction } from 'kysely';
import { type ContextMessage, callKeys, resultKey } from '../../core/context/context.ts';
import { shownRole } from '../../core/context/context-side.ts';
import { toContextMessage } from '../schema/rows.ts';
import type { MessageTable, Tables } from '../schema/tables.ts';
import { readInBatches } from '../transaction/batches.ts';
import { selectRows } from '../transaction/rows.ts';
import { statement } from '../transaction/statement.ts';
import { byTime } from '../transaction/step-messages.ts';
import type { HistoryWindow, StepPlace } from './step-place-record.ts';
import { WindowFilling } from './window-filling.ts';

export interface History {
  readonly messages: readonly ContextMessage[];
  /** Number of earlier messages for which the window had no room. */
  readonly trimmed: number;
}

type Place = Pick<StepPlace, 'executionId' | 'side'> & {
  readonly thread: Pick<StepPlace['thread'], 'id' | 'messageCount'>;
};

/** `after`: the time up to which a summary replaces the messages. */
export interface UncoveredWindow extends HistoryWindow {
  readonly after: number | undefined;
}

export async function readHistory(
  db: Transaction<Tables>,
  place: Place,
  window: UncoveredWindow,
): Promise<History> {
  const own = await readOwn(db, place, window);
  if (!window.includeChat) return { messages: own, trimmed: 0 };
  const earlier = await readEarlier(db, place, window, own);
  const messages = [...earlier.messages, ...own].sort(byTime);
  return { messages, trimmed: earlier.trimmed };
}

function messagesOf(db: Kysely<Tables>, threadId: string) {
  return selectRows(db, 'messages', { thread_id: threadId, depth: 0, status: 'completed' });
}

const selectOwn = statement((db, threadId: string, executionId: string) =>
  messagesOf(db, threadId).selectAll().where('execution_id', '=', executionId),
);

async function readOwn(
  db: Transaction<Tables>,
  place: Place,
  { after }: Pick<UncoveredWindow, 'after'>,
): Promise<ContextMessage[]> {
  const { executionId } = place;
  const { id } = place.thread;
  // Sorted here: with an `order by`, SQLite would scan the whole thread in order instead of using the execution's
  // index.
  const own =
    after === undefined
      ? selectOwn(db, id, executionId)
      : whereOwnAfter(messagesOf(db, id).selectAll(), executionId, after);
  return (await own.execute()).map(toContextMessage).sort(byTime);
}

/**
 * H4: selects by time. The execution is compared in an expression, so that no engine uses its index, which leads
 * through all covered messages.
 */
export function whereOwnAfter<Query extends MessageQuery>(
  query: Query,
  executionId: string,
  after: number,
): Query {
  return query
    .where('created_at', '>', after)
    .where(sql<boolean>`coalesce(execution_id, '') = ${executionId}`) as Query;
}

type MessageQuery = SelectQueryBuilder<Tables, 'messages', object>;

/** Steps of the other side, among those whose tool results are in these messages (H3). */
async function readOthersSteps(
  db: Transaction<Tables>,
  { thread, side }: Place,
  messages: readonly ContextMessage[],
): Promise<ReadonlySet<number>> {
  const steps = new Set(
    messages.flatMap(({ role, step }) => (role === 'tool' && step !== null ? [step] : [])),
  );
  const others = await readInBatches([...steps], (batch) =>
    selectRows(db, 'steps', { thread_id: thread.id, step: batch })
      .select('step')
      .where('side', '!=', side)
      .execute(),
  );
  return new Set(others.map(({ step }) => step));
}

function othersOf(db: Kysely<Tables>, threadId: string, executionId: string) {
  return messagesOf(db, threadId)
    .selectAll()
    .where((eb) => eb.or([eb('execution_id', 'is', null), eb('execution_id', '!=', executionId)]))
    .orderBy('created_at', 'desc');
}

/** The usual case: all earlier messages, up to the size of a page. */
const selectNewest = statement((db, threadId: string, executionId: string, size: number) =>
  othersOf(db, threadId, executionId).limit(size),
);

interface Page {
  readonly size: number;
  readonly before: number | undefined;
}

function selectEarlier(
  db: Transaction<Tables>,
  { thread: { id }, executionId }: Place,
  { includePastTools, after }: UncoveredWindow,
  { size, before }: Page,
): Promise<Selectable<MessageTable>[]> {
  if (includePastTools && after === undefined && before === undefined)
    return selectNewest(db, id, executionId, size).execute();
  let query = othersOf(db, id, executionId).limit(size);
  if (after !== undefined) query = query.where('created_at', '>', after);
  if (before !== undefined) query = query.where('created_at', '<', before);
  return (includePastTools ? query : query.where('role', '!=', 'tool')).execute();
}

/** H2: pages, newest first. */
async function readEarlier(
  db: Transaction<Tables>,
  place: Place,
  window: UncoveredWindow,
  own: readonly ContextMessage[],
): Promise<History> {
  const othersAmong = async (messages: readonly ContextMessage[]) =>
    window.twoSides ? readOthersSteps(db, place, messages) : NO_STEPS;
  const filling = new WindowFilling(window, place.side);
  filling.spend(own, await othersAmong(own));
  let before: number | undefined;
  while (!filling.full) {
    const size = filling.nextPage();
    const page = (await selectEarlier(db, place, window, { size, before })).map(toContextMessage);
    filling.take(page, await othersAmong(page));
    if (page.length < size) break;
    before = page.at(-1)?.created_at;
  }
  if (!filling.full) return { messages: filling.taken, trimmed: 0 };
  const messages = cut(filling.taken, own, place);
  const parts = { taken: filling.taken, messages, own };
  return { messages, trimmed: await countLeftOut(db, place, window, parts) };
}

const NO_STEPS: ReadonlySet<number> = new Set();

type Parts = Readonly<Record<'taken' | 'messages' | 'own', readonly ContextMessage[]>>;

async function countLeftOut(
  db: Transaction<Tables>,
  place: Place,
  { after }: UncoveredWindow,
  { taken, messages, own }: Parts,
) {
  const start = (messages[0] ?? own[0])?.created_at;
  const behind = ({ created_at: at }: ContextMessage) => start !== undefined && at >= start;
  const orphans = taken.filter(behind).length - messages.length;
  const all = after === undefined ? place.thread.messageCount : await countSince(db, place, after + 1);
  const before = all - (await countSince(db, place, start));
  return before - own.filter((each) => !behind(each)).length + orphans;
}

/** Counts messages of every kind from a time on, by the index alone. The thread's row has the number of all. */
async function countSince(db: Transaction<Tables>, { thread }: Place, time = Number.MAX_SAFE_INTEGER) {
  const { count } = await db
    .selectFrom('messages')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('thread_id', '=', thread.id)
    .where('created_at', '>=', time)
    .executeTakeFirstOrThrow();
  return count;
}

function cut(
  taken: readonly ContextMessage[],
  own: readonly ContextMessage[],
  { side }: Place,
): ContextMessage[] {
  const first = taken.findIndex((message) => shownRole(message, side) === 'user');
  const kept = first > 0 ? taken.slice(first) : taken;
  const asked = new Set([...kept, ...own].flatMap(callKeys));
  return kept.filter((message) => message.role !== 'tool' || asked.has(resultKey(message)));
}
