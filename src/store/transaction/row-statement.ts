/**
 * Writes rows by their columns: the text of a statement is built once per set of columns (statement.ts), and the code
 * names a limited number of sets. A value is always a parameter, never an expression.
 */
import type { Compilable, Insertable, Kysely, Selectable, Updateable } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import { StatementTexts } from './statement.ts';

type Table = keyof Tables & string;
type Columns = Readonly<Record<string, unknown>>;

/** Most rows of an insert whose text is cached: above, their number may be any. */
const MAX_CACHED_ROWS = 4;
const insertions = new StatementTexts<unknown>();
const changes = new StatementTexts<unknown>();

/** All rows must name the same columns; undefined is written as null. */
export async function insertRows<Name extends Table>(
  db: Kysely<Tables>,
  table: Name,
  rows: readonly Insertable<Tables[Name]>[],
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first);
  const values = rows.flatMap((row) => columns.map((column) => (row as Columns)[column] ?? null));
  const build = (parameters: readonly unknown[]): Compilable<unknown> => {
    const written = rows.map((_, at) => toRow(columns, parameters.slice(at * columns.length)));
    // The columns are those of the table: the type of `rows` ensures it.
    return db.insertInto(table as 'events').values(written as Insertable<Tables['events']>[]);
  };
  if (rows.length > MAX_CACHED_ROWS) await db.executeQuery(build(values).compile());
  else await insertions.bind(db, `${table} ${rows.length} ${columns}`, values, build).execute();
}

/**
 * Updates the rows whose `key` columns have these values; no key value may be null. Undefined columns stay as they are:
 * if all are undefined, nothing is written.
 */
export async function updateRows<Name extends Table>(
  db: Kysely<Tables>,
  table: Name,
  key: Partial<Selectable<Tables[Name]>>,
  changed: Updateable<Tables[Name]>,
): Promise<void> {
  const keys = Object.keys(key);
  const columns = Object.keys(changed).filter((column) => (changed as Columns)[column] !== undefined);
  if (columns.length === 0) return;
  const values = [...Object.values(key), ...columns.map((column) => (changed as Columns)[column])];
  await changes
    .bind(db, `${table} ${keys} set ${columns}`, values, (parameters) => {
      const written = db.updateTable(table as 'events').set(toRow(columns, parameters.slice(keys.length)));
      return keys.reduce(
        (query, column, at) => query.where(column as 'seq', '=', parameters[at] as number),
        written,
      );
    })
    .execute();
}

function toRow(columns: readonly string[], values: readonly unknown[]): Columns {
  return Object.fromEntries(columns.map((column, at) => [column, values[at]]));
}
