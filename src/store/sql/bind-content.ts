/**
 * Binds the commands for content to one database: messages, the log, values, files, variables, tokens, tool lists of
 * MCP servers, and tasks of agents elsewhere.
 */

import { beginA2aTask, listUnwantedA2aTasks, noteA2aTask } from '../commands/a2a/a2a-task.ts';
import { binder } from '../commands/base/bind.ts';
import type { CommandContext } from '../commands/base/context.ts';
import { appendEvent, getLogs } from '../commands/base/log.ts';
import { getMessage, getMessages, getRecentMessages, readEvents } from '../commands/base/read.ts';
import { listEnv, readEnv, rotateEnv, setEnv, unsetEnv } from '../commands/env/env.ts';
import { copyFileFrom } from '../commands/family/child-files.ts';
import {
  getFileStats,
  getFileThumbnail,
  openFile,
  readdirFile,
  readFileChunk,
  statFile,
} from '../commands/file/file-read.ts';
import { findFiles, grepFiles } from '../commands/file/file-search.ts';
import { mkdirFile, rmdirFile, unlinkFile } from '../commands/file/file-tree.ts';
import { stageFile, writeFile } from '../commands/file/file-write.ts';
import { keepMcp, listMcp } from '../commands/mcp/mcp-list.ts';
import { noteMemory, recallMemory } from '../commands/memory/memory.ts';
import { deleteMessage, injectMessage, updateMessage } from '../commands/message/message.ts';
import { dropSent, keepSent, readSent } from '../commands/message/sent.ts';
import { removeChunks } from '../commands/run/remove-chunks.ts';
import { createToken, findToken, listTokens, readSigningKey, revokeToken } from '../commands/token/token.ts';
import { getValue, listValues, setValue } from '../commands/value/value.ts';
import type { ThreadStore } from '../port/thread-store.ts';

type Content = Pick<
  ThreadStore,
  'messages' | 'events' | 'values' | 'files' | 'env' | 'tokens' | 'mcp' | 'memory' | 'a2a' | 'sent'
>;

export function bindContent(context: CommandContext): Content {
  const bound = binder(context);
  return {
    messages: {
      list: bound(getMessages),
      recent: bound(getRecentMessages),
      get: bound(getMessage),
      inject: bound(injectMessage),
      update: bound(updateMessage),
      delete: bound(deleteMessage),
    },
    events: {
      read: bound(readEvents),
      awaitGrowth: context.watch.wait,
      listen: context.story.listen,
      append: bound(appendEvent),
      removeChunks: bound(removeChunks),
      getLogs: bound(getLogs),
    },
    values: {
      get: bound(getValue),
      set: bound(setValue),
      list: bound(listValues),
    },
    files: {
      write: bound(writeFile),
      stage: bound(stageFile),
      mkdir: bound(mkdirFile),
      rmdir: bound(rmdirFile),
      unlink: bound(unlinkFile),
      copy: bound(copyFileFrom),
      stat: bound(statFile),
      readdir: bound(readdirFile),
      getStats: bound(getFileStats),
      getThumbnail: bound(getFileThumbnail),
      open: bound(openFile),
      readChunk: bound(readFileChunk),
      find: bound(findFiles),
      grep: bound(grepFiles),
    },
    env: {
      set: bound(setEnv),
      unset: bound(unsetEnv),
      list: bound(listEnv),
      read: bound(readEnv),
      rotate: bound(rotateEnv),
    },
    mcp: { list: bound(listMcp), keep: bound(keepMcp) },
    sent: { keep: bound(keepSent), read: bound(readSent), drop: bound(dropSent) },
    memory: { note: bound(noteMemory), recall: bound(recallMemory) },
    a2a: {
      begin: bound(beginA2aTask),
      note: bound(noteA2aTask),
      listUnwanted: bound(listUnwantedA2aTasks),
    },
    tokens: {
      create: bound(createToken),
      find: bound(findToken),
      list: bound(listTokens),
      revoke: bound(revokeToken),
      signingKey: bound(readSigningKey),
    },
  };
}
