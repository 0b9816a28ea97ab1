/**
 * Loads Node's own SQLite when a file is opened, and not before: clients with PostgreSQL or over HTTP also run on a
 * Node that has none.
 */
import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite';
import { RuntimeError } from '../../core/value/error.ts';

/** Throws `InvalidConfiguration` on a Node without SQLite, and SQLite's own errors. */
export function openDatabase(path: string, options: DatabaseSyncOptions): DatabaseSync {
  // The function itself is absent before Node 20.16.
  const sqlite = process.getBuiltinModule?.('node:sqlite');
  if (sqlite) return new sqlite.DatabaseSync(path, options);
  throw new RuntimeError(
    'InvalidConfiguration',
    `A store in a file needs Node 24, but this is Node ${process.versions.node}, which has no SQLite: use Node 24, a store on PostgreSQL ` +
      '(EVERTHREAD_STORE=postgres://…), or HttpClient of everthread/client.',
  );
}
