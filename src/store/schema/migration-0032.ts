/**
 * 0032: how large the team of a thread may grow in a turn, null if nothing limits it; and the organisation of a thread,
 * given at its start or by its parent.
 */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

/** Number of rows that are read at a time. */
const PAGE = 500;

export const teams: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('threads').addColumn('team', 'text').execute();
    await db.schema.alterTable('threads').addColumn('organization_id', 'text').execute();
    await fillOrganizations(db);
  },
};

/**
 * Fills the organisation of threads that were created before: from their run context, or from the root of their family.
 */
export async function fillOrganizations(db: Kysely<Tables>): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await db
      .selectFrom('threads')
      .select(['id', 'run_context'])
      .where('run_context', 'is not', null)
      .where('id', '>', after)
      .orderBy('id')
      .limit(PAGE)
      .execute();
    for (const { id, run_context: context } of rows) {
      const { organizationId } = JSON.parse(context ?? '{}') as { organizationId?: string };
      if (organizationId !== undefined)
        await db
          .updateTable('threads')
          .set({ organization_id: organizationId })
          .where('id', '=', id)
          .execute();
    }
    if (rows.length < PAGE) break;
    after = rows.at(-1)?.id ?? after;
  }
  await sql`
    UPDATE threads SET organization_id = (SELECT root.organization_id FROM threads AS root WHERE root.id = threads.root_id)
    WHERE root_id <> id AND root_id IN (SELECT owned.id FROM threads AS owned WHERE owned.organization_id IS NOT NULL)
  `.execute(db);
}
