/** The context of every command: the database, the clock, and the way into a thread's transaction. */
import type { Kysely, Transaction } from 'kysely';
import { RuntimeError } from '../../../core/value/error.ts';
import type { KeySource } from '../../crypto/key-file.ts';
import type { FromRun } from '../../port/run.ts';
import type { Tables } from '../../schema/tables.ts';
import type { LogStory } from './log-story.ts';
import type { LogWatch } from './log-watch.ts';
import type { Runner } from './runner.ts';
import { statement } from './statement.ts';
import { ThreadTransaction } from './thread-transaction.ts';
import { askTogether, type Queries, type Rows } from './together.ts';

export interface CommandContext {
  readonly db: Kysely<Tables>;
  readonly storeId: string;
  /** PostgreSQL locks the thread's row; SQLite has one writer at a time anyway. */
  readonly rowLocks: boolean;
  /** The transaction may commit without waiting for the disk; an engine may take no notice. */
  relax(trx: Transaction<Tables>): Promise<void>;
  /** How each command is run. */
  readonly run: Runner;
  /** Those who wait for logs to grow. */
  readonly watch: Pick<LogWatch, 'hint' | 'wait'>;
  /** Those who listen to what this process writes. */
  readonly story: LogStory;
  /** Throws `InvalidConfiguration` where no key is known. */
  readonly keys: KeySource;
  /** Microseconds since 1970, by the clock of this process. */
  now(): number;
  /**
   * Microseconds since 1970 by the one clock that all processes of this store share: the database server's, or this
   * machine's. For what one process writes and another one waits for.
   */
  clock(db: Kysely<Tables>): Promise<number>;
}

const selectThread = statement((db, threadId: string) =>
  db.selectFrom('threads').selectAll().where('id', '=', threadId),
);
const lockThread = statement((db, threadId: string) =>
  db.selectFrom('threads').selectAll().where('id', '=', threadId).forUpdate(),
);

/** What a command is sure to read, whatever stands in the thread's row: asked along with its lock. */
export type ReadAhead<Asked extends Queries> = (trx: Transaction<Tables>) => Asked;

/**
 * Runs `work` in one transaction on a thread and writes what it gathered. On PostgreSQL the lock comes first, and every
 * later statement sees what was committed before it (READ COMMITTED): so commands on a thread follow one another, and
 * what they read holds until they commit.
 */
export async function inThread<T>(
  context: CommandContext,
  threadId: string,
  work: (thread: ThreadTransaction) => Promise<T>,
): Promise<T> {
  return inThreadWith(context, threadId, () => [], work);
}

/** `work` gets the rows that `readAhead` asks for: each query a list of its own. They are read under the lock like all others. */
export async function inThreadWith<T, const Asked extends Queries>(
  context: CommandContext,
  threadId: string,
  readAhead: ReadAhead<Asked>,
  work: (thread: ThreadTransaction, ahead: Rows<Asked>) => Promise<T>,
): Promise<T> {
  const [result, thread] = await context.db.transaction().execute(async (trx) => {
    const select = context.rowLocks ? lockThread : selectThread;
    const [[row], ...ahead] = await askTogether(trx, [select(trx, threadId), ...readAhead(trx)]);
    if (!row) throw unknownThread(context.storeId, threadId);
    const thread = new ThreadTransaction(trx, row, context.now());
    const result = await work(thread, ahead as Rows<Asked>);
    await thread.flush();
    if (thread.relaxed) await context.relax(trx);
    return [result, thread] as const;
  });
  context.watch.hint(threadId);
  context.story.tell(thread.row, thread.events);
  return result;
}

export interface Terminated {
  readonly kind: 'terminated';
}

/**
 * Runs `work` as a command of a workflow run (port, P2 and P3): a retired run is refused by the fence, and a terminated thread
 * answers so and stays as it is.
 */
export async function inRun<T>(
  context: CommandContext,
  ref: FromRun,
  work: (thread: ThreadTransaction) => Promise<T>,
): Promise<T | Terminated> {
  return inRunWith(context, ref, () => [], work);
}

/** As `inThreadWith`. */
export async function inRunWith<T, const Asked extends Queries>(
  context: CommandContext,
  { threadId, runId }: FromRun,
  readAhead: ReadAhead<Asked>,
  work: (thread: ThreadTransaction, ahead: Rows<Asked>) => Promise<T>,
): Promise<T | Terminated> {
  return inThreadWith(context, threadId, readAhead, async (thread, ahead): Promise<T | Terminated> => {
    if (thread.row.terminated_at !== null) return { kind: 'terminated' };
    await thread.admit(runId);
    return work(thread, ahead);
  });
}

/** Runs several reads on one state of the data: what moves from one table to another is seen once, and waits for nobody. */
export async function inSnapshot<T>(
  { db }: CommandContext,
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
