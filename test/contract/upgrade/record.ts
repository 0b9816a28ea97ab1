/**
 * Records a database for `upgrade.test.ts`. Run it with the build whose schema is about to change:
 * `node_modules/.bin/node test/contract/upgrade/record.ts NAME` (its last migration). Recordings are never edited.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openStore } from '../../../src/store/open-store.ts';
import { askMidLife, makeMidLife } from './mid-life.ts';

const [name] = process.argv.slice(2);
if (!name) throw new Error('Which migration is the last one?');
const folder = mkdtempSync(join(tmpdir(), 'everthread-record-'));
const store = await openStore('sqlite:store.db', folder);
const threads = await makeMidLife(store);
const tables = dump(join(folder, 'store.db'));
const answers: Record<string, unknown> = {};
for (const [life, standing] of Object.entries(threads)) answers[life] = await askMidLife(store, standing);
await store.close();
rmSync(folder, { recursive: true });
const file = join(import.meta.dirname, `schema-${name}.json`);
writeFileSync(file, `${JSON.stringify({ migration: name, threads, answers, tables })}\n`);

/** Returns all rows, except the store's name and the migrator's own. */
function dump(path: string): Record<string, unknown[]> {
  const database = new DatabaseSync(path, { readOnly: true });
  const names = database.prepare(`select name from sqlite_master where type = 'table'`).all();
  const kept = names.map((row) => String(row.name)).filter((each) => !/^(kysely_|sqlite_|meta$)/.test(each));
  const rows = kept.map((each) => [each, database.prepare(`select * from ${each}`).all()] as const);
  database.close();
  return Object.fromEntries(rows.filter(([, all]) => all.length > 0));
}
