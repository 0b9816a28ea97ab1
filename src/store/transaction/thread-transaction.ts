/**
 * One transaction on one thread: the fence, the thread's clock, its event log, its messages.
 * - The thread's row is read first (and locked, if the engine has row locks) and written last, so transactions on a
 *   thread are ordered, and with them event numbers (gap-free) and message times.
 * - A write carries the workflow run that asked for it; a retired run's write is refused. What begins work of the
 *   thread's flow, or ends it, also carries the activity's attempt, and is refused from one that has been replaced.
 * - Use after the flush is refused: a change or an event would be lost, and a statement might run outside of the lock.
 */
import type { Insertable, Selectable, Transaction, Updateable } from 'kysely';
import type { ContextMessage } from '../../core/context/context.ts';
import type { EventData, EventKind } from '../../core/event/thread-event.ts';
import { fillMessage, type UnstoredMessage } from '../../core/message/message.ts';
import { toMessageColumns } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import type { ThreadTable } from '../thread/thread-record.ts';
import type { ChangeOrder } from './change-order.ts';
import type { ActivityAttempt, FromFlow } from './from-run.ts';
import {
  countRows,
  deleteRows,
  findRow,
  hasRow,
  insertNew,
  insertRows,
  type Row,
  type RowKey,
  readRow,
  selectRows,
  updateRow,
  updateRows,
} from './rows.ts';
import { wordsAfter } from './thread-words.ts';

export type ThreadRow = Selectable<ThreadTable>;

/** Tables whose rows belong to a thread. */
type Owned = {
  [Name in keyof Tables]: 'thread_id' extends keyof Tables[Name] ? Name : never;
}[keyof Tables];
type OwnKey<Name extends Owned> = Omit<RowKey<Name>, 'thread_id'>;
type OwnRow<Name extends Owned> = Omit<Insertable<Tables[Name]>, 'thread_id'>;

/** Thrown if the command's workflow run is no longer the thread's: it was reset, terminated or continued. */
class StaleRun extends Error {
  override readonly name = 'StaleRun';

  constructor(threadId: string, runId: string) {
    super(`Run ${runId} of thread ${threadId} has been replaced by a newer run; its write is refused.`);
  }
}

/**
 * Thrown if a newer attempt, or a newer activity, has begun work on the thread: this one was given up while it stalled.
 */
export class StaleAttempt extends Error {
  override readonly name = 'StaleAttempt';

  /** `attempt`: which one it is. */
  constructor(threadId: string, attempt: string) {
    super(`A newer attempt works on thread ${threadId} than this ${attempt}; its command is refused.`);
  }
}

/** Thrown if a command uses its transaction after the end: an await is missing. */
class TransactionFlushed extends Error {
  override readonly name = 'TransactionFlushed';

  constructor(threadId: string) {
    super(`The transaction on thread ${threadId} was flushed; any further use of it is refused.`);
  }
}

/** The number of a transaction, and how it numbers the change of a row. */
export interface ThreadChange extends Pick<ChangeOrder, 'next'> {
  readonly number: number;
}

interface EventPlace {
  readonly step?: number | null;
  readonly attempt?: number | null;
}

export class ThreadTransaction {
  readonly row: ThreadRow;
  readonly now: number;
  /** The number of the transaction; also for other threads that it writes. */
  readonly change: ThreadChange;
  readonly #trx: Transaction<Tables>;
  #relaxed = false;
  #flushed = false;
  #changes: Updateable<ThreadTable> = {};
  #events: Insertable<Tables['events']>[] = [];
  #seq: number;
  #clock: number;

  constructor(trx: Transaction<Tables>, row: ThreadRow, now: number, change: ThreadChange) {
    this.#trx = trx;
    this.change = change;
    this.row = row;
    this.now = now;
    this.#seq = row.event_seq;
    this.#clock = row.clock;
  }

  /** For a command's own statements. */
  get trx(): Transaction<Tables> {
    this.#requireOpen();
    return this.#trx;
  }

  get threadId(): string {
    return this.row.id;
  }

  /** The thread's row as it will be written. */
  get written(): ThreadRow {
    return { ...this.row, event_seq: this.#seq, clock: this.#clock, updated_at: this.#updatedAt() };
  }

  /** The events that this transaction adds to the log. */
  get events(): readonly Insertable<Tables['events']>[] {
    return this.#events;
  }

  get relaxed(): boolean {
    return this.#relaxed;
  }

  /** Selects from the thread's rows that have these values (rows.ts). */
  select<Name extends Owned>(table: Name, key?: OwnKey<Name>) {
    return selectRows(this.trx, table, this.#own(key));
  }

  /** The thread's row that has these values; undefined if there is none. */
  find<Name extends Owned, Wanted extends keyof Row<Name> & string = keyof Row<Name> & string>(
    table: Name,
    key: OwnKey<Name>,
    columns?: readonly Wanted[],
  ) {
    return findRow(this.trx, table, this.#own(key), columns);
  }

  /** Like `find`; throws if there is none. */
  read<Name extends Owned, Wanted extends keyof Row<Name> & string = keyof Row<Name> & string>(
    table: Name,
    key: OwnKey<Name>,
    columns?: readonly Wanted[],
  ) {
    return readRow(this.trx, table, this.#own(key), columns);
  }

  has<Name extends Owned>(table: Name, key?: OwnKey<Name>): Promise<boolean> {
    return hasRow(this.trx, table, this.#own(key));
  }

  count<Name extends Owned>(table: Name, key?: OwnKey<Name>): Promise<number> {
    return countRows(this.trx, table, this.#own(key));
  }

  insert<Name extends Owned>(table: Name, row: OwnRow<Name>): Promise<void> {
    return insertRows(this.trx, table, [this.#own(row)]);
  }

  /** Inserts a row unless its key is taken; false if it is. */
  insertNew<Name extends Owned>(table: Name, row: OwnRow<Name>): Promise<boolean> {
    return insertNew(this.trx, table, this.#own(row));
  }

  /** Undefined columns stay as they are. */
  update<Name extends Owned>(
    table: Name,
    key: OwnKey<Name>,
    changes: Updateable<Tables[Name]>,
  ): Promise<void> {
    return updateRows(this.trx, table, this.#own(key), changes);
  }

  /** Like `update`; true if there was such a row. */
  updateRow<Name extends Owned>(
    table: Name,
    key: OwnKey<Name>,
    changes: Updateable<Tables[Name]>,
  ): Promise<boolean> {
    return updateRow(this.trx, table, this.#own(key), changes);
  }

  delete<Name extends Owned>(table: Name, key?: OwnKey<Name>): Promise<void> {
    return deleteRows(this.trx, table, this.#own(key));
  }

  #own<Whole>(given?: object): Whole {
    return { thread_id: this.threadId, ...given } as Whole;
  }

  /**
   * Lets the transaction commit without waiting for the disk. Nothing outside the store learns of this command before a
   * later one is on the disk: a power cut that loses both leaves the thread as if the activity had not begun.
   */
  relax(): void {
    this.#requireOpen();
    this.#relaxed = true;
  }

  /** A thread whose status is set to anything but `waiting` waits for nothing. */
  set(given: Updateable<ThreadTable>): void {
    this.#requireOpen();
    const { status = 'waiting' } = given;
    const over = status !== 'waiting' && this.row.waiting_since !== null;
    const changes = over ? { ...given, waiting_since: null, waiting_for: null } : given;
    this.#changes = { ...this.#changes, ...changes };
    Object.assign(this.row, changes);
  }

  emit<Kind extends EventKind>(type: Kind, data: EventData[Kind], place: EventPlace = {}): void {
    this.#requireOpen();
    this.#seq += 1;
    this.#events.push({
      thread_id: this.threadId,
      seq: this.#seq,
      at: this.now,
      type,
      step: place.step ?? null,
      attempt: place.attempt ?? null,
      data: JSON.stringify(data),
    });
  }

  /** Returns a time later than that of every earlier message. */
  stamp(): number {
    this.#requireOpen();
    this.#clock = Math.max(this.now, this.#clock + 1);
    return this.#clock;
  }

  async insertMessage({ executionId, ...given }: UnstoredMessage & Partial<ContextMessage>): Promise<void> {
    const message = fillMessage(given);
    await this.insert('messages', {
      ...toMessageColumns(message),
      silent: Number(message.silent),
      metadata: JSON.stringify(message.metadata),
      created_at: this.stamp(),
      execution_id: executionId,
    });
    this.set({ message_count: this.row.message_count + 1, ...wordsAfter(this.row, message) });
    const { id, role, step, depth } = message;
    this.emit('message.created', { messageId: id, role, depth: depth || undefined }, { step });
  }

  /**
   * The fence: an unknown run becomes the thread's, and every earlier one is retired. A retired run throws `StaleRun`.
   * Within a run, an attempt at an activity of the flow replaces earlier ones, which throw `StaleAttempt` from then on;
   * one that works `together` with others is admitted beside newer ones.
   */
  async admit(
    { runId, activity }: Pick<FromFlow, 'runId' | 'activity'>,
    { together = false } = {},
  ): Promise<void> {
    if (this.row.run_id !== runId) {
      const isRetired = await this.has('thread_runs', { run_id: runId });
      if (isRetired) throw new StaleRun(this.threadId, runId);
      await this.insert('thread_runs', { run_id: runId, registered_at: this.now });
      this.set({ run_id: runId, activity: 0, activity_since: 0 });
    }
    if (!activity) return;
    const replaced = this.isReplaced(activity);
    if (replaced && together) return;
    if (replaced) throw new StaleAttempt(this.threadId, `attempt at activity ${activity.number}`);
    const { number, since } = activity;
    if (number === this.row.activity && since === this.row.activity_since) return;
    this.set({ activity: number, activity_since: since });
  }

  /** True if a newer attempt at an activity of the flow has begun or ended something. */
  isReplaced({ number, since }: ActivityAttempt): boolean {
    const { activity: newest, activity_since: newestSince } = this.row;
    return number < newest || (number === newest && since < newestSince);
  }

  /** Writes the gathered changes: once, last. A command that changed nothing leaves the thread as it was. */
  async flush(): Promise<void> {
    this.#requireOpen();
    this.#flushed = true;
    if (this.#events.length === 0 && Object.keys(this.#changes).length === 0) return;
    // Below SQLite's limit of variables per statement, however many events a step emitted.
    for (let i = 0; i < this.#events.length; i += 500) {
      await insertRows(this.#trx, 'events', this.#events.slice(i, i + 500));
    }
    const gathered = { ...this.#changes, event_seq: this.#seq, clock: this.#clock, ...this.#toPlace() };
    await updateRows(this.#trx, 'threads', { id: this.threadId }, gathered);
  }

  /** What tells others of the change. Columns are left out if they stay the same: SQLite writes the indexes of every one that is named. */
  #toPlace(): Updateable<ThreadTable> {
    const { status, updated_at, changed, listed_cost, listed_tokens, ...row } = this.row;
    const { number, next } = this.change;
    const place: Updateable<ThreadTable> = {};
    // A longer log alone is not shown.
    if (Object.keys(this.#changes).length > 0) place.changed = next(changed, number);
    const updatedAt = this.#updatedAt();
    if (updatedAt === updated_at && status === 'running') return place;
    place.moved = number;
    if (updatedAt !== updated_at) place.updated_at = updatedAt;
    if (row.cost_pico !== listed_cost) place.listed_cost = row.cost_pico;
    const tokens = row.input_tokens + row.output_tokens;
    if (tokens !== listed_tokens) place.listed_tokens = tokens;
    return place;
  }

  #updatedAt(): number {
    return lastChanged(this.row, this.#changes, this.now);
  }

  /** Refuses use after the flush. */
  #requireOpen(): void {
    if (this.#flushed) throw new TransactionFlushed(this.threadId);
  }
}

/** Microseconds for which a running thread keeps its place in the lists. */
const KEEP_PLACE_US = 1_000_000;

/**
 * The time at which lists of threads show a thread as last changed. Three indexes hold that time, and a running thread
 * is written several times per step: updating them each time would be a fifth of all that a step writes to the disk.
 * The first argument is the row as it will be written; `changes` has its new columns. A change of status moves the
 * thread at once: one that comes to rest, or begins to wait, never keeps an older place.
 */
function lastChanged(
  { status, updated_at }: Pick<Selectable<ThreadTable>, 'status' | 'updated_at'>,
  changes: Updateable<ThreadTable>,
  now: number,
): number {
  const atWork = status === 'running' && changes.status === undefined;
  const since = now - updated_at;
  return atWork && since >= 0 && since < KEEP_PLACE_US ? updated_at : now;
}
