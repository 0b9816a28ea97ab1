/**
 * Classifies errors of a SQLite file by their remedy: make room, wait for the disk, or give the file up. Errors are
 * recognised by SQLite's extended result codes and, if a file was synced, by those of the system.
 */
import { dirname } from 'node:path';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import { hasRoom } from './disk.ts';

const PRIMARY = 0xff;
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;
/** A page that is missing in the file, one whose checksum is wrong, and corruption that the file system reports. */
const IOERR_SHORT_READ = 522;
const IOERR_DATA = 8202;
const IOERR_CORRUPTFS = 8458;
const READONLY_DBMOVED = 1032;

/** SQLite's extended result code. */
function resultCode(error: unknown): number | undefined {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  return code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number' ? errcode : undefined;
}

export function isBusy(error: unknown): boolean {
  return ((resultCode(error) ?? 0) & PRIMARY) === BUSY;
}

/** Converts an error of SQLite, or of a sync of its files, to one with our code. `path`: path of the database. */
export function explainSqlite(error: unknown, path: string): unknown {
  const code = resultCode(error);
  if (code === undefined) return explainSystem(error, path);
  if (code === READONLY_DBMOVED) return storeLost(path, 'was moved', error);
  if ([IOERR_SHORT_READ, IOERR_DATA, IOERR_CORRUPTFS].includes(code)) return storeCorrupt(path, error);
  switch (code & PRIMARY) {
    case FULL:
      return storeFull(path, error);
    case CORRUPT:
    case NOTADB:
      return storeCorrupt(path, error);
    case IOERR:
    case READONLY:
      return hasRoom(dirname(path)) ? diskRefuses(path, error) : storeFull(path, error);
    case CANTOPEN:
      return hasRoom(dirname(path)) ? cannotOpen(path, error) : storeFull(path, error);
    default:
      return error;
  }
}

/** Converts an error of the system while the file is made: what a person must change, unless the disk is full or fails. */
export function explainOpening(error: unknown, path: string): unknown {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EIO'
    ? explainSystem(error, path)
    : cannotOpen(path, error);
}

function explainSystem(error: unknown, path: string): unknown {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  if (code === 'ENOSPC' || code === 'EDQUOT') return storeFull(path, error);
  return typeof syscall === 'string' ? diskRefuses(path, error) : error;
}

function storeFull(path: string, cause: unknown): RuntimeError {
  return new RuntimeError(
    'StoreFull',
    `The disk of the store ${path} is full: nothing can be stored (${errorMessage(cause)}). Free space on it; threads wait ` +
      'and then continue by themselves, and refused requests can be sent again.',
    { cause },
  );
}

export function storeLost(path: string, what: string, cause?: unknown): RuntimeError {
  return new RuntimeError(
    'StoreLost',
    `The store's file ${path} ${what} while it was open: what is written to it now would be lost, so the store accepts no more requests. ` +
      'Stop every worker and client of this store, put its files back or restore a backup, and start again.',
    { cause },
  );
}

export function storeCorrupt(path: string, cause: unknown): RuntimeError {
  return new RuntimeError(
    'StoreCorrupt',
    `The store ${path} is damaged: ${errorMessage(cause)}. It accepts no more requests. Stop every worker and client of this store, ` +
      'keep a copy of its files, and restore a backup, or save what can be read with: ' +
      `sqlite3 ${path} .recover | sqlite3 recovered.db`,
    { cause },
  );
}

function diskRefuses(path: string, cause: unknown): RuntimeError {
  return new RuntimeError(
    'StoreUnavailable',
    `The disk of the store ${path} reports an error: ${errorMessage(cause)}. Check the disk and how it is mounted; threads wait until it works again.`,
    { cause },
  );
}

function cannotOpen(path: string, cause: unknown): RuntimeError {
  return new RuntimeError(
    'InvalidConfiguration',
    `The store ${path} cannot be opened: ${errorMessage(cause)}. Check the path in EVERTHREAD_STORE and the permissions of the file and its folder.`,
    { cause },
  );
}
