/** Binds the table of commands (store.ts) to a database, and to how its engine runs commands. */
import type { Kysely } from 'kysely';
import type { Tables } from './schema/tables.ts';
import { COMMANDS, type Command, type Commands, ONCE, type ThreadStore } from './store.ts';
import { ChangeWatch } from './thread/change-watch.ts';
import type { CommandContext } from './transaction/context.ts';
import { EventPublisher } from './transaction/event-publisher.ts';
import { LogWatch } from './transaction/log-watch.ts';
import { readRow } from './transaction/rows.ts';

/** @internal The parts of a store that differ between engines. */
export type Engine = Pick<
  CommandContext,
  'run' | 'rowLocks' | 'order' | 'relax' | 'keys' | 'clock' | 'familyCalls' | 'requestDays'
> &
  Pick<ThreadStore, 'place'>;

/** @internal The store over a database that has this build's schema. */
export async function bindStore(db: Kysely<Tables>, { place, ...engine }: Engine): Promise<ThreadStore> {
  const { value: storeId } = await readRow(db, 'meta', { key: 'store_id' }, ['value']);
  const watch = new LogWatch(db);
  const publisher = new EventPublisher();
  const context: CommandContext = { db, storeId, ...engine, watch, publisher, now: () => Date.now() * 1000 };
  const bound = bind(context);
  const changes = new ChangeWatch(context);
  return {
    ...bound,
    threads: { ...bound.threads, awaitChange: changes.wait },
    events: { ...bound.events, awaitGrowth: watch.wait, listen: publisher.listen },
    id: storeId,
    place,
    close() {
      watch.close();
      changes.close();
      return db.destroy();
    },
  };
}

/** Each command runs as its engine runs commands. */
function bind(context: CommandContext): Commands {
  const groups = Object.entries<Record<string, Command>>(COMMANDS).map(([group, commands]) => [
    group,
    Object.fromEntries(
      Object.entries(commands).map(([name, command]) => {
        const options = { once: ONCE.has(command) };
        return [name, (...values: unknown[]) => context.run(() => command(context, ...values), options)];
      }),
    ),
  ]);
  return Object.fromEntries(groups) as Commands;
}
