/**
 * The context of every command: the database, the clock, how an engine runs a command, and the way into a thread's
 * transaction.
 */
import type { Kysely, Transaction } from 'kysely';
import { RuntimeError } from '../../core/value/error.ts';
import type { KeySource } from '../crypto/key-file.ts';
import type { Tables } from '../schema/tables.ts';
import type { ChangeOrder } from './change-order.ts';
import type { EventPublisher } from './event-publisher.ts';
import type { FromFlow } from './from-run.ts';
import type { LogWatch } from './log-watch.ts';
import { type Queries, queryTogether, type Rows, StatementTexts } from './statement.ts';
import { type ThreadRow, ThreadTransaction } from './thread-transaction.ts';

export interface CommandContext {
  readonly db: Kysely<Tables>;
  readonly storeId: string;
  /** True if the engine locks the thread's row, as PostgreSQL does; SQLite has one writer at a time anyway. */
  readonly rowLocks: boolean;
  /** How changes become visible to others. */
  readonly order: ChangeOrder;
  /** Lets the transaction commit without waiting for the disk; an engine may ignore this. */
  relax(trx: Transaction<Tables>): Promise<void>;
  /** Runs each command. */
  readonly run: Runner;
  /** Wakes readers that wait for logs to grow. */
  readonly watch: Pick<LogWatch, 'hint' | 'wait'>;
  /** Notifies the listeners of the events that this process writes. */
  readonly publisher: EventPublisher;
  /** Model calls of all that one execution of a root causes (budget/account.ts); 0: no ceiling. */
  readonly familyCalls: number;
  /** Days for which requests to models are kept; 0: not at all, infinite: as long as their thread. */
  readonly requestDays: number;
  /** Throws `InvalidConfiguration` if no key is configured. */
  readonly keys: KeySource;
  /** Microseconds since 1970, by the clock of this process. */
  now(): number;
  /**
   * Microseconds since 1970 by the one clock that all processes of this store share: the database server's, or this
   * machine's. Used for times that one process writes and another compares with.
   */
  clock(db: Kysely<Tables>): Promise<number>;
}

const threadTexts = new StatementTexts<ThreadRow & { readonly number: number }>();

/** The thread's row, locked if the engine locks rows, and the number of the transaction. */
function lockThread(
  { order, rowLocks }: Pick<CommandContext, 'order' | 'rowLocks'>,
  db: Kysely<Tables>,
  id: string,
) {
  return threadTexts.bind(db, '', [id] as const, ([bound]) => {
    const found = db
      .selectFrom('threads')
      .selectAll()
      .select(order.number.as('number'))
      .where('id', '=', bound);
    return rowLocks ? found.forUpdate() : found;
  });
}

/** Queries that a command always needs, whatever the thread's row holds: sent together with the lock. */
type ReadAhead<Asked extends Queries> = (trx: Transaction<Tables>) => Asked;

/**
 * Runs `work` in one transaction on a thread and writes the changes that it has gathered. On PostgreSQL the lock comes
 * first, and every later statement sees what was committed before it (READ COMMITTED): commands on a thread are
 * serialised, and what they read holds until they commit.
 */
export async function inThread<T>(
  context: CommandContext,
  threadId: string,
  work: (thread: ThreadTransaction) => Promise<T>,
): Promise<T> {
  return inThreadWith(context, threadId, () => [], work);
}

/** Like `inThread`; `work` also receives the rows of each `readAhead` query, read under the lock. */
export async function inThreadWith<T, const Asked extends Queries>(
  context: CommandContext,
  threadId: string,
  readAhead: ReadAhead<Asked>,
  work: (thread: ThreadTransaction, ahead: Rows<Asked>) => Promise<T>,
): Promise<T> {
  const [result, thread] = await context.db.transaction().execute(async (trx) => {
    const [[locked], ...ahead] = await queryTogether(trx, [
      lockThread(context, trx, threadId),
      ...readAhead(trx),
    ]);
    if (!locked) throw unknownThread(context.storeId, threadId);
    const { number, ...row } = locked;
    const thread = new ThreadTransaction(trx, row, context.now(), { number, next: context.order.next });
    const result = await work(thread, ahead as Rows<Asked>);
    await thread.flush();
    if (thread.relaxed) await context.relax(trx);
    return [result, thread] as const;
  });
  context.watch.hint(threadId);
  context.publisher.publish(thread.row, thread.events);
  return result;
}

export interface Terminated {
  readonly kind: 'terminated';
}

/**
 * Runs `work` as a command of a workflow run (store.ts, P7 and P3): the fence refuses a retired run, and for a terminated
 * thread it returns `terminated` and changes nothing.
 */
export async function inRun<T>(
  context: CommandContext,
  ref: FromFlow,
  work: (thread: ThreadTransaction) => Promise<T>,
): Promise<T | Terminated> {
  return inRunWith(context, ref, () => [], work);
}

/** Like `inRun`, with the queries of `inThreadWith`. */
export async function inRunWith<T, const Asked extends Queries>(
  context: CommandContext,
  from: FromFlow,
  readAhead: ReadAhead<Asked>,
  work: (thread: ThreadTransaction, ahead: Rows<Asked>) => Promise<T>,
): Promise<T | Terminated> {
  return inThreadWith(context, from.threadId, readAhead, async (thread, ahead): Promise<T | Terminated> => {
    if (thread.row.terminated_at !== null) return { kind: 'terminated' };
    await thread.admit(from);
    return work(thread, ahead);
  });
}

/** Runs several reads on one snapshot: a row that moves between tables is seen once, and no read waits for a lock. */
export async function inSnapshot<T>(
  { db }: Pick<CommandContext, 'db'>,
  read: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read);
}

export function unknownThread(storeId: string, threadId: string): RuntimeError {
  return new RuntimeError('ThreadNotFound', `Thread "${threadId}" is not in store ${storeId}.`);
}

export function refuseTerminated(thread: ThreadTransaction): void {
  if (thread.row.terminated_at === null) return;
  throw new RuntimeError('ThreadTerminated', `Thread "${thread.threadId}" is terminated; start a new one.`);
}

export interface RunOptions {
  /** True if no natural key makes a repetition harmless: the engine runs the command once, even if it fails. */
  readonly once?: boolean;
}

/** Runs a command; an engine may repeat it if the error says that a retry helps. */
export type Runner = <Answer>(command: () => Promise<Answer>, options?: RunOptions) => Promise<Answer>;

/** For an engine that waits for its locks by itself, as SQLite does here. */
export const runOnce: Runner = (command) => command();
