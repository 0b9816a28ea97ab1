/**
 * Reads what a step's request is assembled from (runtime §4): its place, then as many messages as it needs, in one snapshot.
 *
 * The messages of a step's request, oldest first; a long thread is not read whole if a part of it is enough.
 * - The step's own execution is read whole, whatever the window says.
 * - Earlier messages are read newest first, page by page, until the window is full. It then begins with a user's
 *   message if it has one, since providers insist on that, and has no result whose call was left out.
 * - With two AI sides, each gets the other's messages as a user's, without the results of the other's tools: hooks
 *   see those, but they take no room.
 * H4. After a summary, the messages that it covers are not read, not even those of the step's own execution.
 *
 * What a sub-prompt's model sees (definitions §12.6, §22.8): the sub-prompt's own messages, after the thread's
 * conversation if its prompt includes that.
 * - The conversation ends before the message whose call it answers: a call without a result must never reach a
 *   provider, and neither may the results of that message's other calls.
 * - A sub-prompt's model does not see the messages of other sub-prompts, nor of the one around it.
 * - A summary covers no message of a sub-prompt, and nothing that follows the message whose call that answers.
 */
import { type Kysely, type Selectable, type SelectQueryBuilder, sql, type Transaction } from 'kysely';
import type { Side } from '../../core/author/thread-execution.ts';
import { type ContextMessage, callKeys, resultKey } from '../../core/context/context.ts';
import { estimateMessage } from '../../core/context/context-estimate.ts';
import { isFromOther, shownRole } from '../../core/context/context-side.ts';
import { toContextMessage, toThreadRecord } from '../schema/rows.ts';
import type { MessageTable, Tables } from '../schema/tables.ts';
import { warningsOf } from '../tool/loop.ts';
import { type CommandContext, inSnapshot, unknownThread } from '../transaction/context.ts';
import { readInBatches, selectRows } from '../transaction/rows.ts';
import { queryTogether, statement } from '../transaction/statement.ts';
import { selectPlace, toPlace } from '../transaction/step-place.ts';
import { byTime, OPEN_CALL, selectStepCalls } from '../transaction/step-row.ts';
import type { ThreadRow } from '../transaction/thread-transaction.ts';
import type { HistoryWindow, StepContext, StepPlace, SubpromptPlace } from './step-place-record.ts';
import { countsOf } from './stream.ts';
import { findSummary } from './summary.ts';

const EVERYTHING: HistoryWindow = { includeChat: true, includePastTools: true, recentImages: 0 };

/**
 * Reads, in one snapshot, the place of the step and its messages, oldest first. `window` is called in between and
 * returns how much of the history is needed; if absent, all of it. Rejects with `ThreadNotFound`.
 */
export async function readContext(
  context: CommandContext,
  threadId: string,
  step: number,
  window: (place: StepPlace) => HistoryWindow = () => EVERYTHING,
): Promise<StepContext> {
  return inSnapshot(context, async (db) => {
    const [[row], [placeRow]] = await queryTogether(db, [
      db.selectFrom('threads').selectAll().where('id', '=', threadId),
      selectPlace(db, threadId, step),
    ]);
    if (!row) throw unknownThread(context.storeId, threadId);
    if (!placeRow) throw new Error(`Thread ${threadId} has no step ${step}.`);
    const thread = toThreadRecord(row);
    const found = await toPlace(db, row, placeRow);
    const place = { thread, step, ...found, ...toLoopWarnings(row, found), counts: countsOf(row) };
    return readMessages(db, place, window(place));
  });
}

/** The loop warnings for a step; none for a sub-prompt, whose model has made none of the calls. */
export function toLoopWarnings(
  row: ThreadRow,
  place: Pick<StepPlace, 'executionId' | 'side' | 'subprompt'>,
): Pick<StepPlace, 'loops'> {
  const loops = place.subprompt ? [] : warningsOf(row, place);
  return loops.length > 0 ? { loops } : {};
}

/** Adds the messages to a place. */
export async function readMessages(
  db: Transaction<Tables>,
  place: StepPlace,
  window: HistoryWindow,
): Promise<StepContext> {
  const { subprompt } = place;
  const summary = await findSummary(db, place, window.summaries);
  const behind = { ...window, after: summary?.until };
  const history = subprompt
    ? await readSubpromptHistory(db, place, subprompt, behind)
    : await readHistory(db, place, behind);
  const { tokens: room, assumed } = window;
  return { ...place, ...history, room, assumed, summary };
}

interface History {
  readonly messages: readonly ContextMessage[];
  /** Number of earlier messages for which the window had no room. */
  readonly trimmed: number;
}

type Place = Pick<StepPlace, 'executionId' | 'side'> & {
  readonly thread: Pick<StepPlace['thread'], 'id' | 'messageCount'>;
};

/** `after`: the time up to which a summary replaces the messages. */
interface UncoveredWindow extends HistoryWindow {
  readonly after: number | undefined;
}

async function readHistory(db: Transaction<Tables>, place: Place, window: UncoveredWindow): Promise<History> {
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
function whereOwnAfter<Query extends MessageQuery>(query: Query, executionId: string, after: number): Query {
  return query
    .where('created_at', '>', after)
    .where(sql<boolean>`coalesce(execution_id, '') = ${executionId}`) as Query;
}

type MessageQuery = SelectQueryBuilder<Tables, 'messages', object>;

/** Steps of the other side, among those whose tool results are in these messages. */
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

/** Pages, newest first. */
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

/** Rows of the first page, and of the longest. */
const [FIRST_PAGE, LONGEST_PAGE] = [64, 1000];
/** Estimated tokens of a short message, for the first page of a small window. */
const SHORT = 16;

type OthersSteps = ReadonlySet<number>;

/** Takes messages, the newest first, until the window is full. */
export class WindowFilling {
  readonly #window: HistoryWindow;
  readonly #side: Side;
  readonly #room: number;
  readonly #taken: ContextMessage[] = [];
  #left: number;
  #position = 0;
  #full = false;

  constructor(window: HistoryWindow, side: Side) {
    this.#window = window;
    this.#side = side;
    this.#room = window.tokens ?? Number.MAX_SAFE_INTEGER;
    this.#left = this.#room;
  }

  get full(): boolean {
    return this.#full;
  }

  /** The messages that were taken, oldest first. */
  get taken(): ContextMessage[] {
    return this.#taken.toReversed();
  }

  /** Counts messages that are included even if there is no room: those of the step's own execution, oldest first. */
  spend(own: readonly ContextMessage[], others: OthersSteps): void {
    for (const message of own.toReversed()) this.#left -= this.#weigh(message, others, false, true);
    this.#full = this.#left <= 0;
  }

  /** Takes as many messages of a page as there is room for. */
  take(page: readonly ContextMessage[], others: OthersSteps): void {
    for (const message of page) {
      const weight = this.#weigh(message, others, !this.#window.includePastTools);
      this.#full = weight > this.#left;
      if (this.#full) return;
      this.#left -= weight;
      this.#taken.push(message);
    }
  }

  /** The number of rows that will probably fill the rest. */
  nextPage(): number {
    if (this.#taken.length === 0) return Math.min(FIRST_PAGE, Math.ceil(this.#left / SHORT) + 1);
    const mean = (this.#room - this.#left) / this.#position;
    return Math.min(LONGEST_PAGE, Math.max(FIRST_PAGE, Math.ceil(this.#left / Math.max(1, mean)) + 8));
  }

  #weigh(message: ContextMessage, others: OthersSteps, past: boolean, own = false): number {
    const recent = this.#position < this.#window.recentImages;
    this.#position += 1;
    // Results of the other side's tools take no room.
    if (message.role === 'tool' && message.step !== null && others.has(message.step)) return 0;
    const withoutCalls = past || isFromOther(message, this.#side);
    return estimateMessage(message, { past: withoutCalls, recent, own }, this.#window.scale);
  }
}

async function readSubpromptHistory(
  db: Transaction<Tables>,
  place: Place,
  subprompt: SubpromptPlace,
  window: UncoveredWindow,
): Promise<History> {
  const own = await readSubpromptOwn(db, place, subprompt, window);
  if (!window.includeChat) return { messages: own, trimmed: 0 };
  const { messages, trimmed } = await readHistory(db, place, excludeOwn(window, own));
  const open = await readOpenCalls(db, place);
  return { messages: [...withoutOpen(messages, open), ...own], trimmed };
}

async function readSubpromptOwn(
  db: Transaction<Tables>,
  { thread, executionId }: Place,
  { parentId }: SubpromptPlace,
  { after }: UncoveredWindow,
): Promise<ContextMessage[]> {
  const all = selectRows(db, 'messages', {
    thread_id: thread.id,
    parent_id: parentId,
    status: 'completed',
  }).selectAll();
  // The sub-prompt's messages follow the call that it answers, which no summary covers.
  const own =
    after === undefined
      ? all.where('execution_id', '=', executionId)
      : whereOwnAfter(all, executionId, after);
  const rows = await own.execute();
  // Sorted here, so that the execution's index is used.
  return rows.map(toContextMessage).sort(byTime);
}

/** The window less the sub-prompt's own messages. */
function excludeOwn(window: UncoveredWindow, own: readonly ContextMessage[]): UncoveredWindow {
  if (window.tokens === undefined) return window;
  const taken = own.reduce(
    (sum, each) => sum + estimateMessage(each, { past: false, recent: true, own: true }, window.scale),
    0,
  );
  return { ...window, tokens: Math.max(0, window.tokens - taken) };
}

/** Calls of the thread's own steps that have no result. */
async function readOpenCalls(db: Transaction<Tables>, { thread }: Place): Promise<ReadonlySet<string>> {
  const rows = await selectStepCalls(db, thread.id)
    .select(['tool_calls.step', 'tool_calls.call_id'])
    .where('tool_calls.state', 'in', OPEN_CALL)
    .where('steps.depth', '=', 0)
    .execute();
  return new Set(rows.map(({ step, call_id: id }) => resultKey({ step, tool_call_id: id })));
}

/** Drops messages with open calls. */
function withoutOpen(messages: readonly ContextMessage[], open: ReadonlySet<string>): ContextMessage[] {
  const dropped = new Set<string>();
  const kept = messages.filter((message) => {
    const keys = callKeys(message);
    if (!keys.some((key) => open.has(key))) return true;
    for (const key of keys) dropped.add(key);
    return false;
  });
  return kept.filter((message) => message.role !== 'tool' || !dropped.has(resultKey(message)));
}
