/** The ThreadStore over a SQL database: every command of the port, bound to one database. */
import { Kysely } from 'kysely';
import { binder, runOnce } from '../commands/base/bind.ts';
import type { CommandContext } from '../commands/base/context.ts';
import { appendEvent, getLogs } from '../commands/base/log.ts';
import {
  countTaken,
  getMessage,
  getMessages,
  getThread,
  listThreads,
  readEvents,
} from '../commands/base/read.ts';
import { bindEffects } from '../commands/effect/effect-run.ts';
import { bindEnv } from '../commands/env/env.ts';
import { bindFamily } from '../commands/family/family.ts';
import { deleteMessage, injectMessage, updateMessage } from '../commands/message/message.ts';
import { countQueued, queueItem, stageItem, stashItems } from '../commands/message/queue.ts';
import { beginStep } from '../commands/step/begin-step.ts';
import { commitStep, failStep } from '../commands/step/close-step.ts';
import { bindHooks } from '../commands/step/hook.ts';
import { readContext } from '../commands/step/read-context.ts';
import { appendChunk, endModelCall, startModelCall } from '../commands/step/stream.ts';
import { openThread } from '../commands/thread/open-thread.ts';
import { commitStatus, terminateThread } from '../commands/thread/status.ts';
import { bindStrikes } from '../commands/tool/strike.ts';
import { bindSubprompts } from '../commands/tool/subprompt.ts';
import { beginTool, commitTool, settleLostTool } from '../commands/tool/tool.ts';
import type { KeySource } from '../crypto/key-file.ts';
import type { ThreadStore } from '../port/thread-store.ts';
import { migrate } from '../schema/migrations.ts';
import type { Tables } from '../schema/tables.ts';
import { NodeSqliteDialect, type SqliteOptions } from '../sqlite/dialect.ts';
import { bindValuesAndFiles } from './file-store.ts';

/** Opens a SQLite store, brings its schema up to date, and answers once it can be used. */
export async function openSqliteStore(options: SqliteOptions, keys: KeySource): Promise<ThreadStore> {
  const dialect = new NodeSqliteDialect(options);
  const db = new Kysely<Tables>({ dialect });
  try {
    await migrate(db);
    const place = `SQLite at ${options.path}`;
    const store = await bindStore(db, {
      place,
      run: runOnce,
      keys,
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
export type Engine = Pick<CommandContext, 'run' | 'rowLocks' | 'relax' | 'keys' | 'clock'> &
  Pick<ThreadStore, 'place'>;

/** The store over a database that has this build's schema. */
export async function bindStore(db: Kysely<Tables>, { place, ...engine }: Engine): Promise<ThreadStore> {
  const { value: storeId } = await db
    .selectFrom('meta')
    .select('value')
    .where('key', '=', 'store_id')
    .executeTakeFirstOrThrow();
  const context: CommandContext = { db, storeId, ...engine, now: () => Date.now() * 1000 };
  const bound = binder(context);
  return {
    id: storeId,
    place,
    openThread: bound(openThread),
    stashItems: bound(stashItems),
    beginStep: bound(beginStep),
    readContext: bound(readContext),
    startModelCall: bound(startModelCall),
    endModelCall: bound(endModelCall),
    // Nobody sends streamed text twice (port, P1).
    appendChunk: bound(appendChunk, { once: true }),
    commitStep: bound(commitStep),
    failStep: bound(failStep),
    beginTool: bound(beginTool),
    commitTool: bound(commitTool),
    settleLostTool: bound(settleLostTool),
    commitStatus: bound(commitStatus),
    stageItem: bound(stageItem),
    queueItem: bound(queueItem),
    injectMessage: bound(injectMessage),
    updateMessage: bound(updateMessage),
    deleteMessage: bound(deleteMessage),
    getThread: bound(getThread),
    listThreads: bound(listThreads),
    getMessages: bound(getMessages),
    getMessage: bound(getMessage),
    readEvents: bound(readEvents),
    appendEvent: bound(appendEvent),
    getLogs: bound(getLogs),
    terminateThread: bound(terminateThread),
    countTaken: bound(countTaken),
    countQueued: bound(countQueued),
    ...bindEffects(context),
    ...bindEnv(context),
    ...bindSubprompts(context),
    ...bindStrikes(context),
    ...bindFamily(context),
    ...bindHooks(context),
    ...bindValuesAndFiles(context),
    close: () => db.destroy(),
  };
}
