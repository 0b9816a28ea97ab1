/**
 * Node's own SQLite, taken where a file is opened: clients with PostgreSQL or over HTTP run on a Node that has none.
 */
import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite';
import { RuntimeError } from '../../core/value/error.ts';

/** Throws `InvalidConfiguration` on a Node without SQLite, and what SQLite itself says. */
export function openDatabase(path: string, options: DatabaseSyncOptions): DatabaseSync {
  // Absent before 20.16 as well.
  const sqlite = process.getBuiltinModule?.('node:sqlite');
  if (sqlite) return new sqlite.DatabaseSync(path, options);
  throw new RuntimeError(
    'InvalidConfiguration',
    `A store in a file needs Node 24, and this is Node ${process.versions.node}, which has no SQLite: use Node 24, a store on PostgreSQL ` +
      '(EVERTHREAD_STORE=postgres://…), or HttpClient of everthread/client.',
  );
}
