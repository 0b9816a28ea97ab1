/**
 * Rows that are written by their columns: each set of columns has a text that is made once (statement.ts), and there are as many sets
 * as the code names. A value is a parameter, never an expression.
 */
import type { Compilable, Insertable, Kysely, Selectable, Updateable } from 'kysely';
import type { Tables } from '../../schema/tables.ts';
import { StatementTexts } from './statement.ts';

type Table = keyof Tables & string;
type Columns = Readonly<Record<string, unknown>>;

/** Of more rows at once no text is kept: their number may be any. */
const MOST_ROWS = 4;
const insertions = new StatementTexts<unknown>();
const changes = new StatementTexts<unknown>();

/** All rows name the same columns; what is undefined is null. */
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
    // The columns are those of the table: the parameter's type has seen to it.
    return db.insertInto(table as 'events').values(written as Insertable<Tables['events']>[]);
  };
  if (rows.length > MOST_ROWS) await db.executeQuery(build(values).compile());
  else await insertions.bind(db, `${table} ${rows.length} ${columns}`, values, build).execute();
}

/** Changes columns of the rows whose `key` columns are so; null is no value of a key, and what is undefined stays: where that is all, nothing is written. */
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
