/**
 * The messages of a step's request, oldest first; never a whole long thread where a part of it is enough.
 * H1. The step's own execution is read whole, whatever the window says.
 * H2. What came before is read newest first, page by page, until the window is full. It then begins with a user's message
 *     where it has one, since providers insist on that, and holds no result whose call was left out.
 * H3. Where there are two AI sides, each has the other's messages as a user's, and is not shown what its tools did: hooks see it, but it takes
 *     no room.
 */
import type { Transaction } from 'kysely';
import { type ContextMessage, callKeys, resultKey } from '../../../core/context/context.ts';
import { estimateMessage } from '../../../core/context/context-estimate.ts';
import { isOthers, shownRole } from '../../../core/context/context-side.ts';
import type { HistoryWindow, StepPlace } from '../../port/thread-store.ts';
import { toContextMessage } from '../../schema/rows.ts';
import type { Tables } from '../../schema/tables.ts';

export interface History {
  readonly messages: readonly ContextMessage[];
  /** Messages that stand before, where the window had no room for them. */
  readonly trimmed: number;
}

/** Rows of one page: at first, and at most. */
const [FIRST_PAGE, LONGEST_PAGE] = [64, 1000];

type Place = Pick<StepPlace, 'executionId' | 'side'> & { readonly thread: { readonly id: string } };

export async function readHistory(
  db: Transaction<Tables>,
  place: Place,
  window: HistoryWindow,
): Promise<History> {
  if (!window.includeChat) return { messages: await readOwn(db, place), trimmed: 0 };
  if (window.tokens === undefined) return { messages: await readAll(db, place, window), trimmed: 0 };
  const own = await readOwn(db, place);
  const others = window.twoSides ? await readOthersSteps(db, place) : NO_STEPS;
  const bounded = { ...window, tokens: window.tokens, others };
  const earlier = await readEarlier(db, place, bounded, own);
  const messages = [...earlier.messages, ...own].sort(byTime);
  return { messages, trimmed: earlier.trimmed };
}

function messagesOf(db: Transaction<Tables>, { thread }: Place) {
  return db
    .selectFrom('messages')
    .where('thread_id', '=', thread.id)
    .where('depth', '=', 0)
    .where('status', '=', 'completed');
}

async function readOwn(db: Transaction<Tables>, place: Place): Promise<ContextMessage[]> {
  // Put in order here: asked to, SQLite would walk the whole thread in order instead of taking the execution's index.
  const rows = await messagesOf(db, place)
    .selectAll()
    .where('execution_id', '=', place.executionId)
    .execute();
  return rows.map(toContextMessage).sort(byTime);
}

const byTime = (a: ContextMessage, b: ContextMessage) => a.created_at - b.created_at;

const NO_STEPS: ReadonlySet<number> = new Set();

/** Steps of the other side. */
async function readOthersSteps(
  db: Transaction<Tables>,
  { thread, side }: Place,
): Promise<ReadonlySet<number>> {
  const rows = await db
    .selectFrom('steps')
    .select('step')
    .where('thread_id', '=', thread.id)
    .where('side', '!=', side)
    .execute();
  return new Set(rows.map(({ step }) => step));
}

async function readAll(
  db: Transaction<Tables>,
  place: Place,
  { includePastTools }: HistoryWindow,
): Promise<ContextMessage[]> {
  let query = messagesOf(db, place).selectAll().orderBy('created_at');
  if (!includePastTools) {
    query = query.where((eb) =>
      eb.or([eb('role', '!=', 'tool'), eb('execution_id', '=', place.executionId)]),
    );
  }
  return (await query.execute()).map(toContextMessage);
}

function earlierOf(db: Transaction<Tables>, place: Place, { includePastTools }: HistoryWindow) {
  const query = messagesOf(db, place).where((eb) =>
    eb.or([eb('execution_id', 'is', null), eb('execution_id', '!=', place.executionId)]),
  );
  return includePastTools ? query : query.where('role', '!=', 'tool');
}

type Bounded = HistoryWindow & { readonly tokens: number; readonly others: ReadonlySet<number> };

/** H2: pages, newest first. */
async function readEarlier(
  db: Transaction<Tables>,
  place: Place,
  window: Bounded,
  own: readonly ContextMessage[],
): Promise<History> {
  const filling = new Filling(window, place, own);
  let before: number | undefined;
  let page = FIRST_PAGE;
  while (!filling.full) {
    let query = earlierOf(db, place, window).selectAll().orderBy('created_at', 'desc').limit(page);
    if (before !== undefined) query = query.where('created_at', '<', before);
    const rows = await query.execute();
    for (const row of rows) if (!filling.take(toContextMessage(row))) break;
    if (rows.length < page) break;
    before = rows.at(-1)?.created_at;
    page = filling.nextPage();
  }
  if (!filling.full) return { messages: filling.taken, trimmed: 0 };
  const messages = cut(filling.taken, own, place);
  return { messages, trimmed: await countLeftOut(db, place, { taken: filling.taken, messages, own }) };
}

type Parts = Readonly<Record<'taken' | 'messages' | 'own', readonly ContextMessage[]>>;

async function countLeftOut(db: Transaction<Tables>, place: Place, { taken, messages, own }: Parts) {
  const start = (messages[0] ?? own[0])?.created_at;
  const behind = ({ created_at: at }: ContextMessage) => start !== undefined && at >= start;
  const orphans = taken.filter(behind).length - messages.length;
  return (await countBefore(db, place, start)) - own.filter((each) => !behind(each)).length + orphans;
}

/** Counts all messages before a time, of whatever kind, by the index alone: a long thread is counted in each of its steps. */
async function countBefore(db: Transaction<Tables>, { thread }: Place, time = Number.MAX_SAFE_INTEGER) {
  const { count } = await db
    .selectFrom('messages')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('thread_id', '=', thread.id)
    .where('created_at', '<', time)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Takes messages, the newest first, until the window is full. */
class Filling {
  readonly #window: Bounded;
  readonly #side: Place['side'];
  readonly #taken: ContextMessage[] = [];
  #left: number;
  #position: number;
  #full: boolean;

  constructor(window: Bounded, { side }: Place, own: readonly ContextMessage[]) {
    this.#window = window;
    this.#side = side;
    this.#left = window.tokens;
    this.#position = 0;
    for (const message of own.toReversed()) this.#left -= this.#weigh(message, false);
    this.#full = this.#left <= 0;
  }

  get full(): boolean {
    return this.#full;
  }

  /** Oldest first. */
  get taken(): ContextMessage[] {
    return this.#taken.toReversed();
  }

  /** False when there was no room for it. */
  take(message: ContextMessage): boolean {
    const weight = this.#weigh(message, !this.#window.includePastTools);
    if (weight > this.#left) {
      this.#full = true;
      return false;
    }
    this.#left -= weight;
    this.#taken.push(message);
    return true;
  }

  /** As many rows as will probably fill what is left. */
  nextPage(): number {
    const mean = (this.#window.tokens - this.#left) / Math.max(1, this.#position);
    return Math.min(LONGEST_PAGE, Math.max(FIRST_PAGE, Math.ceil(this.#left / Math.max(1, mean)) + 8));
  }

  #weigh(message: ContextMessage, past: boolean): number {
    const recent = this.#position < this.#window.recentImages;
    this.#position += 1;
    // H3: the other side's tools.
    const { others } = this.#window;
    if (message.role === 'tool' && message.step !== null && others.has(message.step)) return 0;
    const withoutCalls = past || isOthers(message, this.#side);
    return estimateMessage(message, { past: withoutCalls, recent });
  }
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
