/** 0068: approvals with the scope `always` in their own table, so that they outlive the thread that asked. */
import type { Kysely, Migration } from 'kysely';
import type { Decision } from '../../core/wait/answer.ts';
import type { Tables } from './tables.ts';

export const grants: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema
      .createTable('grants')
      .addColumn('wait_id', 'text', (c) => c.primaryKey())
      .addColumn('fingerprint', 'text', (c) => c.notNull())
      .addColumn('organization_id', 'text')
      .addColumn('user_id', 'text')
      .addColumn('granted_by', 'text')
      .addColumn('granted_at', 'bigint', (c) => c.notNull())
      .execute();
    await db.schema
      .createIndex('grants_by_fingerprint')
      .on('grants')
      .columns(['fingerprint', 'user_id', 'organization_id', 'granted_at'])
      .execute();
    const answered = await db
      .selectFrom('waits')
      .innerJoin('threads', 'threads.id', 'waits.thread_id')
      .select(['waits.id', 'fingerprint', 'organization_id', 'user_id', 'answer', 'ended_at'])
      .where('kind', '=', 'approval')
      .where('fingerprint', 'is not', null)
      // As JSON.stringify writes it; within a string, its quotes would be escaped.
      .where('answer', 'like', '%"scope":"always"%')
      .execute();
    for (const { id, answer, fingerprint, ended_at, ...owner } of answered) {
      const { approved, by } = JSON.parse(answer ?? '{}') as Decision;
      if (!approved || fingerprint === null) continue;
      const given = { granted_by: by ?? null, granted_at: ended_at ?? 0 };
      await db
        .insertInto('grants')
        .values({ wait_id: id, fingerprint, ...owner, ...given })
        .execute();
    }
  },
};
