/** The ThreadStore over a SQL database: every command of the port, bound to one database. */
import { Kysely } from 'kysely';
import type { CommandContext } from '../commands/base/context.ts';
import { EventPublisher } from '../commands/base/event-publisher.ts';
import { LogWatch } from '../commands/base/log-watch.ts';
import { runOnce } from '../commands/base/runner.ts';
import type { ThreadStore } from '../port/thread-store.ts';
import { migrate } from '../schema/migrations.ts';
import type { Tables } from '../schema/tables.ts';
import { NodeSqliteDialect, type SqliteOptions } from '../sqlite/dialect.ts';
import { bindContent } from './bind-content.ts';
import { bindFamily } from './bind-family.ts';
import { bindTasks } from './bind-tasks.ts';
import { bindWork } from './bind-work.ts';

/** Opens a SQLite store and brings its schema up to date. */
export async function openSqliteStore(
  options: SqliteOptions,
  { keys, familyCalls }: Pick<Engine, 'keys' | 'familyCalls'>,
): Promise<ThreadStore> {
  const dialect = new NodeSqliteDialect(options);
  const db = new Kysely<Tables>({ dialect });
  try {
    const { path } = options;
    const place = `SQLite at ${path}`;
    await migrate(db, { place, toDelete: 'that file, with -wal and -shm beside it' });
    const store = await bindStore(db, {
      place,
      run: runOnce,
      ...{ keys, familyCalls },
      rowLocks: false,
      relax: async () => dialect.relax(),
      clock: async () => Date.now() * 1000,
    });
    return { ...store, ended: dialect.ended };
  } catch (error) {
    await db.destroy().catch(() => undefined);
    throw error;
  }
}

/** The parts of a store that differ between engines. */
export type Engine = Pick<CommandContext, 'run' | 'rowLocks' | 'relax' | 'keys' | 'clock' | 'familyCalls'> &
  Pick<ThreadStore, 'place'>;

/** The store over a database that has this build's schema. */
export async function bindStore(db: Kysely<Tables>, { place, ...engine }: Engine): Promise<ThreadStore> {
  const { value: storeId } = await db
    .selectFrom('meta')
    .select('value')
    .where('key', '=', 'store_id')
    .executeTakeFirstOrThrow();
  const watch = new LogWatch(db);
  const story = new EventPublisher();
  const context: CommandContext = { db, storeId, ...engine, watch, story, now: () => Date.now() * 1000 };
  return {
    id: storeId,
    place,
    ...bindWork(context),
    ...bindContent(context),
    ...bindFamily(context),
    ...bindTasks(context),
    close() {
      watch.close();
      return db.destroy();
    },
  };
}
