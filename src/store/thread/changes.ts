/**
 * The feed of changes: which threads have changed since a cursor, each as it is now. It is a hint: a thread that has
 * changed is there at least once, whatever commits late, and a reader looks at it as it is now.
 * - A cursor is what a snapshot has contained, so a change that it did not contain is there the next time.
 * - A page ends at a place within what one snapshot contains; the next pages end at that snapshot, and the next
 *     round begins with what it did not contain.
 * Y6. A running thread may change without being moved (transaction/thread-transaction.ts): those that run are compared
 *     by themselves. Where rows do not tell when they changed, a digest of all that run tells that some did, and then
 *     all of them are there.
 * - A row that only has a longer log has not changed.
 * - Of a deleted thread the row has no owner: only a reader of all threads learns of it. Others have seen it end.
 */
import { createHash } from 'node:crypto';
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { TASK_ID_PREFIX } from '../../core/thread/task-start.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { toCount, toThreadRecord } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inSnapshot } from '../transaction/context.ts';
import type { ThreadRow } from '../transaction/thread-transaction.ts';
import type { ChangedThread, ListChanges, ThreadChanges } from './thread-record.ts';

type FeedOwner = Pick<ListChanges, 'userId' | 'organizationId'>;

/** What a snapshot contained: its mark (change-order.ts), and the digest of the threads that run (Y6). */
export interface Point {
  readonly mark: string;
  readonly running: string;
}

/** Changes since one point until another, of which those up to a place have been read. */
interface Round {
  readonly since: Point;
  readonly until: Point;
  readonly after?: { readonly moved: number; readonly id: string };
}

/** Without a cursor there are no changes, but a cursor. Throws `InvalidCursor`. */
export async function listChanges(
  context: CommandContext,
  { cursor, limit, ...owner }: ListChanges = {},
): Promise<ThreadChanges> {
  return inSnapshot(context, async (trx) => {
    const now = await readPoint(context, trx, owner);
    if (cursor === undefined) return { threads: [], cursor: toCursor({ since: now, until: now }) };
    const round = readRound(cursor, now);
    context.order.check(round.since.mark, now.mark);
    context.order.check(round.until.mark, now.mark);
    const most = Math.max(1, toCount(limit, 100));
    const rows: readonly ThreadRow[] = await selectChanged(context, trx, round, owner)
      .orderBy('moved')
      .orderBy('id')
      .limit(most + 1)
      .execute();
    const page = rows.slice(0, most);
    const last = page.at(-1);
    const next =
      last && rows.length > most
        ? { ...round, after: { moved: last.moved, id: last.id } }
        : { since: round.until, until: round.until };
    return { threads: page.map(toChanged), cursor: toCursor(next) };
  });
}

function selectChanged(
  { order }: Pick<CommandContext, 'order'>,
  trx: Transaction<Tables>,
  { since, until, after }: Round,
  owner: FeedOwner,
) {
  const moved = order.movedSince(since.mark);
  const shown = (condition: RawBuilder<boolean>) => {
    const found = whereOwned(trx.selectFrom('threads').selectAll(), owner)
      .where('id', 'not like', `${TASK_ID_PREFIX}%`)
      .where(condition);
    return after ? found.where(sql<boolean>`(moved, id) > (${after.moved}, ${after.id})`) : found;
  };
  const byPlace = shown(sql`${moved} and ${order.movedUntil(until.mark)}`);
  const isSame = !order.changedSince && since.running === until.running;
  const changed = order.changedSince?.(since.mark) ?? sql`true`;
  const running = shown(sql`${RUNNING} and not ${moved} and ${changed}`);
  return trx.selectFrom((isSame ? byPlace : byPlace.unionAll(running)).as('threads')).selectAll();
}

/** Repeats the condition of the partial index as literals. */
const RUNNING = sql`status = 'running' and status <> 'idle' and status <> 'terminated'`;

function whereOwned<
  Query extends { where(column: 'user_id' | 'organization_id', is: '=', value: string): Query },
>(query: Query, { userId, organizationId }: FeedOwner): Query {
  const ofUser = userId === undefined ? query : query.where('user_id', '=', userId);
  return organizationId === undefined ? ofUser : ofUser.where('organization_id', '=', organizationId);
}

async function readPoint(
  { order }: Pick<CommandContext, 'order'>,
  trx: Transaction<Tables>,
  owner: FeedOwner,
): Promise<Point> {
  const mark = await order.readMark(trx);
  if (order.changedSince) return { mark, running: '' };
  const rows = await whereOwned(trx.selectFrom('threads').select(['id', 'changed']), owner)
    .where(sql<boolean>`${RUNNING}`)
    .orderBy('id')
    .execute();
  return { mark, running: digestOf(rows) };
}

function digestOf(rows: readonly Pick<ThreadRow, 'id' | 'changed'>[]): string {
  if (rows.length === 0) return '';
  const hash = createHash('sha256');
  for (const { id, changed } of rows) hash.update(JSON.stringify([id, changed]));
  return hash.digest('base64url').slice(0, 16);
}

/** True once something has changed that the point does not contain, for any reader. Returns the present point. */
export async function hasChanged(
  context: Pick<CommandContext, 'order'> & { readonly db: Kysely<Tables> },
  since: Point | undefined,
): Promise<{ readonly changed: boolean; readonly now: Point }> {
  return inSnapshot(context, async (trx) => {
    const now = await readPoint(context, trx, {});
    if (since === undefined) return { changed: true, now };
    const [row] = await selectChanged(context, trx, { since, until: now }, {}).limit(1).execute();
    return { changed: row !== undefined, now };
  });
}

function toChanged(row: ThreadRow): ChangedThread {
  return row.deleted_at === null ? toThreadRecord(row) : { id: row.id, deleted: true };
}

/** `SINCE~RUNNING`, and within a round `~UNTIL~RUNNING~MOVED~ID` after that. */
function toCursor({ since, until, after }: Round): string {
  const from = `${since.mark}~${since.running}`;
  return after ? `${from}~${until.mark}~${until.running}~${after.moved}~${after.id}` : from;
}

const CURSOR =
  /^(?<mark>[\d:,]+)~(?<running>[\w-]{0,16})(?:~(?<mark2>[\d:,]+)~(?<running2>[\w-]{0,16})~(?<moved>\d{1,16})~(?<id>.{1,200}))?$/;

/** Throws `InvalidCursor`. */
function readRound(cursor: string, now: Point): Round {
  const { mark, running, mark2, running2, moved, id } = CURSOR.exec(cursor)?.groups ?? {};
  if (mark === undefined || running === undefined)
    throw new RuntimeError(
      'InvalidCursor',
      `${JSON.stringify(cursor.slice(0, 64))} is not a cursor of the changes of threads: use the one that was returned with them.`,
    );
  const since = { mark, running };
  if (mark2 === undefined || running2 === undefined || id === undefined) return { since, until: now };
  return { since, until: { mark: mark2, running: running2 }, after: { moved: Number(moved), id } };
}
