/** Reads waits by the clock of the store: one past its time has expired, whatever its row says. */
import type { Kysely } from 'kysely';
import { toCount } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import type { CommandContext } from '../transaction/context.ts';
import type { ListWaits, Wait } from './wait-record.ts';
import { findWait, toWait } from './wait-row.ts';

export async function getWait(context: CommandContext, id: string): Promise<Wait | null> {
  const row = await findWait(context.db, id);
  return row ? toWait(row, await context.clock(context.db)) : null;
}

/** Oldest first. */
export async function listWaits(
  context: CommandContext,
  { threadId, state = 'open', limit }: ListWaits = {},
): Promise<readonly Wait[]> {
  const now = await context.clock(context.db);
  let rows = selectByState(context.db, state, now);
  if (threadId !== undefined) {
    const shown = context.db.selectFrom('shown_waits').select('wait_id').where('thread_id', '=', threadId);
    rows = rows.where((eb) =>
      eb.or([eb('thread_id', '=', threadId), eb('root_id', '=', threadId), eb('id', 'in', shown)]),
    );
  }
  const found = await rows.orderBy('opened_at').orderBy('id').limit(toCount(limit, 100)).execute();
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
