/**
 * Lists waits, by the clock of the store: one past its time has expired, whatever its row says. Among them those that are
 * over but whose threads have not gone on, as a signal was lost or an expiry was not noticed; and threads that show
 * other waits than their workflows have read (shown-wait.ts, S7) and still wait for a child.
 */
import type { Kysely } from 'kysely';
import { TASK_ID_PREFIX } from '../../core/thread/task-start.ts';
import { toCount } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import type { CommandContext } from '../transaction/context.ts';
import type { ForgottenWait, ListWaits, UnreadWait, Wait } from './wait-record.ts';
import { findWait, toWait } from './wait-row.ts';

export async function getWait(context: CommandContext, id: string): Promise<Wait | null> {
  const row = await findWait(context.db, id);
  return row ? toWait(row, await context.clock(context.db)) : null;
}

/** Oldest first. */
export async function listWaits(
  context: CommandContext,
  { threadId, state = 'open', openedBefore, order = 'asc', limit }: ListWaits = {},
): Promise<readonly Wait[]> {
  const now = await context.clock(context.db);
  let rows = selectByState(context.db, state, now);
  if (threadId !== undefined) {
    const shown = context.db.selectFrom('shown_waits').select('wait_id').where('thread_id', '=', threadId);
    rows = rows.where((eb) =>
      eb.or([eb('thread_id', '=', threadId), eb('root_id', '=', threadId), eb('id', 'in', shown)]),
    );
  }
  if (openedBefore !== undefined) rows = rows.where('opened_at', '<', openedBefore);
  const found = await rows
    .orderBy('opened_at', order)
    .orderBy('id', order)
    .limit(toCount(limit, 100))
    .execute();
  return found.map((row) => toWait(row, now));
}

/** A wait past its time may be stored as open. */
function selectByState(db: Kysely<Tables>, state: NonNullable<ListWaits['state']>, now: number) {
  const rows = db.selectFrom('waits').selectAll();
  if (state === 'open')
    return rows
      .where('state', '=', 'open')
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]));
  if (state !== 'expired') return rows.where('state', '=', state);
  return rows.where((eb) =>
    eb.or([eb('state', '=', 'expired'), eb.and([eb('state', '=', 'open'), eb('expires_at', '<=', now)])]),
  );
}

const MAX_ROWS = 100;

/** Waits that have been over for at least this long, and whose call, step or task has not continued. At most 100. */
export async function listForgottenWaits(
  context: CommandContext,
  olderThanMs: number,
): Promise<readonly ForgottenWait[]> {
  const before = (await context.clock(context.db)) - olderThanMs * 1000;
  const rows = await context.db
    .selectFrom('waits')
    .leftJoin('tool_calls', (join) =>
      join
        .onRef('tool_calls.thread_id', '=', 'waits.thread_id')
        .onRef('tool_calls.step', '=', 'waits.step')
        .onRef('tool_calls.idx', '=', 'waits.idx'),
    )
    .leftJoin('executions', (join) =>
      join
        .onRef('executions.thread_id', '=', 'waits.thread_id')
        .onRef('executions.id', '=', 'waits.execution_id'),
    )
    .select(['waits.id', 'waits.thread_id'])
    .where('waits.heard', '=', 0)
    .where((eb) =>
      eb.or([
        eb.and([eb('tool_calls.state', '=', 'scheduled'), eb('waits.ended_at', '<', before)]),
        // A step waits for it.
        eb.and([
          ...[eb('waits.step', 'is', null), eb('waits.blocks', '=', 1), eb('waits.ended_at', '<', before)],
          ...[eb('executions.id', 'is not', null), eb('executions.ended_at', 'is', null)],
        ]),
        eb.and([eb('tool_calls.state', '=', 'asked'), eb('waits.expires_at', '<', before)]),
        // A task waits for it, and has no executions; a task's end marks all waits as heard
        // (task/task.ts).
        eb.and([
          ...[eb('waits.thread_id', 'like', `${TASK_ID_PREFIX}%`), eb('waits.blocks', '=', 1)],
          eb.or([eb('waits.ended_at', '<', before), eb('waits.expires_at', '<', before)]),
        ]),
      ]),
    )
    .orderBy('waits.opened_at')
    .limit(MAX_ROWS)
    .execute();
  return rows.map(({ id, thread_id: threadId }) => ({ id, threadId }));
}

/** Threads whose `readShown` has been due for at least this long, the longest first. At most 100. */
export async function listUnreadWaits(
  context: CommandContext,
  olderThanMs: number,
): Promise<readonly UnreadWait[]> {
  const before = (await context.clock(context.db)) - olderThanMs * 1000;
  const rows = await context.db
    .selectFrom('threads')
    .innerJoin('children', 'children.parent_id', 'threads.id')
    .select(['threads.id', 'children.child_id'])
    .where('threads.unseen_since', '<=', before)
    .where('threads.terminated_at', 'is', null)
    .where('children.wait_step', 'is not', null)
    .orderBy('threads.unseen_since')
    .limit(MAX_ROWS)
    .execute();
  return rows.map(({ id: threadId, child_id: childId }) => ({ threadId, childId }));
}
