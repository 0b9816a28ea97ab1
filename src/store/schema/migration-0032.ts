/**
 * 0032: how large the team of a thread may grow in a turn, null where nothing limits it; and whose a thread is: an organisation, as it was started with or
 * has from its parent. Threads are found by either.
 */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

export const teams: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('threads').addColumn('team', 'text').execute();
    await db.schema.alterTable('threads').addColumn('organization_id', 'text').execute();
    await db.schema
      .createIndex('threads_organization')
      .on('threads')
      .columns(['organization_id', 'updated_at'])
      .where('organization_id', 'is not', null)
      .execute();
    await db.schema
      .createIndex('threads_user')
      .on('threads')
      .columns(['user_id', 'updated_at'])
      .where('user_id', 'is not', null)
      .execute();
    const given = await db
      .selectFrom('threads')
      .select(['id', 'run_context'])
      .where('run_context', 'like', '%"organizationId"%')
      .execute();
    for (const { id, run_context: context } of given) {
      const { organizationId } = JSON.parse(context ?? '{}') as { organizationId?: string };
      if (organizationId === undefined) continue;
      await db.updateTable('threads').set({ organization_id: organizationId }).where('id', '=', id).execute();
    }
    await sql`
      UPDATE threads SET organization_id = (SELECT root.organization_id FROM threads AS root WHERE root.id = threads.root_id)
      WHERE root_id <> id AND root_id IN (SELECT owned.id FROM threads AS owned WHERE owned.organization_id IS NOT NULL)
    `.execute(db);
  },
};
