/** Values and files of the ThreadStore over a SQL database: their commands, bound to one database. */
import type { CommandContext } from '../commands/base/context.ts';
import { getValue, listValues, setValue } from '../commands/env/value.ts';
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
import type { FileStore } from '../port/file.ts';
import type { ValueStore } from '../port/value.ts';

export function bindValuesAndFiles(context: CommandContext): ValueStore & FileStore {
  return {
    getValue: (threadId, key) => getValue(context, threadId, key),
    setValue: (threadId, key, value) => setValue(context, threadId, key, value),
    listValues: (threadId, options) => listValues(context, threadId, options),
    writeFile: (threadId, file) => writeFile(context, threadId, file),
    stageFile: (threadId, file) => stageFile(context, threadId, file),
    mkdirFile: (threadId, path) => mkdirFile(context, threadId, path),
    rmdirFile: (threadId, path) => rmdirFile(context, threadId, path),
    unlinkFile: (threadId, path) => unlinkFile(context, threadId, path),
    statFile: (threadId, path) => statFile(context, threadId, path),
    readdirFile: (threadId, path) => readdirFile(context, threadId, path),
    getFileStats: (threadId) => getFileStats(context, threadId),
    getFileThumbnail: (threadId, path) => getFileThumbnail(context, threadId, path),
    openFile: (threadId, path) => openFile(context, threadId, path),
    readFileChunk: (threadId, chunk) => readFileChunk(context, threadId, chunk),
    findFiles: (threadId, pattern) => findFiles(context, threadId, pattern),
    grepFiles: (threadId, pattern) => grepFiles(context, threadId, pattern),
  };
}
