/** The ThreadStore over a SQL database: every command of the port, bound to one database. */
import { Kysely } from 'kysely';
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

/** What an engine brings along. */
export type Engine = Pick<CommandContext, 'rowLocks' | 'relax' | 'keys' | 'clock'> &
  Pick<ThreadStore, 'place'>;

/** The store over a database that has this build's schema. */
export async function bindStore(db: Kysely<Tables>, { place, ...engine }: Engine): Promise<ThreadStore> {
  const { value: storeId } = await db
    .selectFrom('meta')
    .select('value')
    .where('key', '=', 'store_id')
    .executeTakeFirstOrThrow();
  const context: CommandContext = { db, storeId, ...engine, now: () => Date.now() * 1000 };
  return {
    id: storeId,
    place,
    openThread: (command) => openThread(context, command),
    stashItems: (command) => stashItems(context, command),
    beginStep: (command) => beginStep(context, command),
    readContext: (threadId, step, window) => readContext(context, { threadId, step, window }),
    startModelCall: (command) => startModelCall(context, command),
    endModelCall: (command) => endModelCall(context, command),
    appendChunk: (command) => appendChunk(context, command),
    commitStep: (command) => commitStep(context, command),
    failStep: (command) => failStep(context, command),
    beginTool: (command) => beginTool(context, command),
    commitTool: (command) => commitTool(context, command),
    settleLostTool: (command) => settleLostTool(context, command),
    commitStatus: (command) => commitStatus(context, command),
    stageItem: (threadId, item) => stageItem(context, threadId, item),
    queueItem: (threadId, item) => queueItem(context, threadId, item),
    injectMessage: (threadId, message) => injectMessage(context, threadId, message),
    updateMessage: (threadId, id, updates) => updateMessage(context, threadId, id, updates),
    deleteMessage: (threadId, id) => deleteMessage(context, threadId, id),
    getThread: (threadId) => getThread(context, threadId),
    listThreads: (options) => listThreads(context, options),
    getMessages: (threadId, options) => getMessages(context, threadId, options),
    getMessage: (threadId, id) => getMessage(context, threadId, id),
    readEvents: (threadId, after, limit) => readEvents(context, threadId, after, limit),
    appendEvent: (threadId, event) => appendEvent(context, threadId, event),
    getLogs: (threadId, options) => getLogs(context, threadId, options),
    terminateThread: (threadId, reason) => terminateThread(context, threadId, reason),
    countTaken: (threadId, itemIds) => countTaken(context, threadId, itemIds),
    countQueued: (threadId) => countQueued(context.db, threadId),
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
