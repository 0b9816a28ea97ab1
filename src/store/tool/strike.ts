/**
 * Strikes against work that has taken its worker process down (tool/tool-record.ts). Keys: the work, and the ids of the
 * deaths that it has caused: a death that is reported twice counts once.
 */
import type { Transaction } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import type { CommandContext } from '../transaction/context.ts';
import { deleteRows } from '../transaction/rows.ts';
import type { RecordedDeath, Strike, StruckWork } from './tool-record.ts';

/** Days for which a row is kept that is not touched (tool/tool-record.ts, K2). */
const STRIKES_KEPT_DAYS = 30;

/** Counts each death once, against its culprit; suspects get a row without a strike. */
export async function recordDeaths(context: CommandContext, deaths: readonly RecordedDeath[]): Promise<void> {
  if (deaths.length === 0) return;
  await context.db.transaction().execute(async (trx) => {
    for (const { id, culprit, suspects } of deaths) {
      if (culprit) await strike(context, trx, culprit, [id]);
      for (const suspect of suspects) await strike(context, trx, suspect, []);
    }
    const before = context.now() - STRIKES_KEPT_DAYS * 24 * 60 * 60 * 1_000_000;
    await trx.deleteFrom('author_strikes').where('updated_at', '<', before).execute();
  });
}

async function strike(
  { rowLocks, now }: CommandContext,
  trx: Transaction<Tables>,
  { work, threadId, code, name }: StruckWork,
  death: readonly string[],
): Promise<void> {
  const query = trx.selectFrom('author_strikes').select('deaths').where('work', '=', work);
  const known = await (rowLocks ? query.forUpdate() : query).executeTakeFirst();
  const deaths = JSON.stringify([...new Set([...readDeaths(known), ...death])]);
  const changed = { code, name, deaths, updated_at: now() };
  await trx
    .insertInto('author_strikes')
    .values({ work, thread_id: threadId, ...changed })
    .onConflict((conflict) => conflict.column('work').doUpdateSet(changed))
    .execute();
}

function readDeaths(row: { readonly deaths: string } | undefined): string[] {
  return row ? JSON.parse(row.deaths) : [];
}

export async function readStrike({ db }: CommandContext, work: string): Promise<Strike | null> {
  const query = db.selectFrom('author_strikes').selectAll().where('work', '=', work);
  const row = await query.executeTakeFirst();
  if (!row) return null;
  const { thread_id: threadId, code, name } = row;
  return { work, threadId, code, name, strikes: readDeaths(row).length };
}

/** Deletes the row because the work has ended normally. */
export async function clearStrike({ db }: CommandContext, work: string): Promise<void> {
  await deleteRows(db, 'author_strikes', { work });
}
