/** Values and files of the ThreadStore over a SQL database: their commands, bound to one database. */
import { binder } from '../commands/base/bind.ts';
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
  const bound = binder(context);
  return {
    getValue: bound(getValue),
    setValue: bound(setValue),
    listValues: bound(listValues),
    writeFile: bound(writeFile),
    stageFile: bound(stageFile),
    mkdirFile: bound(mkdirFile),
    rmdirFile: bound(rmdirFile),
    unlinkFile: bound(unlinkFile),
    statFile: bound(statFile),
    readdirFile: bound(readdirFile),
    getFileStats: bound(getFileStats),
    getFileThumbnail: bound(getFileThumbnail),
    openFile: bound(openFile),
    readFileChunk: bound(readFileChunk),
    findFiles: bound(findFiles),
    grepFiles: bound(grepFiles),
  };
}
