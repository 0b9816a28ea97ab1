/**
 * Reads and writes rows by the values of their columns: the text of a statement is built once per set of columns
 * (statement.ts), and the code names a limited number of sets. A value is always a parameter, never an expression.
 *
 * Splits lists: one statement binds at most 32,766 variables in SQLite, and 65,535 in PostgreSQL.
 */
import type { Compilable, Insertable, Kysely, Selectable, SelectQueryBuilder, Updateable } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import { Statement, StatementTexts } from './statement.ts';

type Table = keyof Tables & string;
type Columns = Readonly<Record<string, unknown>>;
type Values = readonly unknown[];
export type Row<Name extends Table> = Selectable<Tables[Name]>;
type Column<Name extends Table> = keyof Row<Name> & string;

/** The values that columns must have: null if the column must be null, a list if it must have one of them. */
export type RowKey<Name extends Table> = {
  readonly [Key in keyof Row<Name>]?: Row<Name>[Key] | readonly Row<Name>[Key][];
};

/** Most rows of an insert whose text is cached: above, their number may be any. */
const MAX_CACHED_ROWS = 4;
const texts = new StatementTexts<unknown>();
/** On PostgreSQL, a write that returns something is awaited (postgres/connection.ts, A4). */
const RETURNING = 'returning';

/** Selects from the rows that have these values; columns, order and limit are the caller's. */
export function selectRows<Name extends Table>(db: Kysely<Tables>, table: Name, key: RowKey<Name>) {
  const rows = whereKey(db.selectFrom(table as 'events'), key, Object.values(key));
  // The table, and so the columns, are those of the name.
  return rows as unknown as SelectQueryBuilder<Tables, Name, object>;
}

/** The given columns of the row that has these values, or all of them: a statement whose text is built once. */
export function selectRow<Name extends Table, Wanted extends Column<Name> = Column<Name>>(
  db: Kysely<Tables>,
  table: Name,
  key: RowKey<Name>,
  columns?: readonly Wanted[],
): Statement<Pick<Row<Name>, Wanted>> {
  const statement = bindKey(db, `select ${columns ?? '*'} ${table}`, key, (values) => {
    const rows = whereKey(db.selectFrom(table as 'events'), key, values);
    return columns ? rows.select(columns as readonly 'seq'[]) : rows.selectAll();
  });
  return statement as Statement<Pick<Row<Name>, Wanted>>;
}

/** Undefined if no row has these values. */
export function findRow<Name extends Table, Wanted extends Column<Name> = Column<Name>>(
  db: Kysely<Tables>,
  table: Name,
  key: RowKey<Name>,
  columns?: readonly Wanted[],
): Promise<Pick<Row<Name>, Wanted> | undefined> {
  return selectRow(db, table, key, columns).executeTakeFirst();
}

/** Throws if no row has these values. */
export function readRow<Name extends Table, Wanted extends Column<Name> = Column<Name>>(
  db: Kysely<Tables>,
  table: Name,
  key: RowKey<Name>,
  columns?: readonly Wanted[],
): Promise<Pick<Row<Name>, Wanted>> {
  return selectRow(db, table, key, columns).executeTakeFirstOrThrow();
}

export async function hasRow<Name extends Table>(
  db: Kysely<Tables>,
  table: Name,
  key: RowKey<Name>,
): Promise<boolean> {
  const [column = ''] = Object.keys(key);
  const rows = bindKey(db, `has ${table}`, key, (values) =>
    whereKey(db.selectFrom(table as 'events').select(column as 'seq'), key, values).limit(1),
  );
  return (await rows.executeTakeFirst()) !== undefined;
}

export async function countRows<Name extends Table>(
  db: Kysely<Tables>,
  table: Name,
  key: RowKey<Name>,
): Promise<number> {
  const counted = bindKey(db, `count ${table}`, key, (values) =>
    whereKey(db.selectFrom(table as 'events'), key, values).select((eb) => eb.fn.countAll().as('count')),
  );
  const { count } = (await counted.executeTakeFirstOrThrow()) as { readonly count: unknown };
  return Number(count);
}

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
  const build = (bound: Values): Compilable<unknown> =>
    insertInto(
      db,
      table,
      rows.map((_, at) => toRow(columns, bound.slice(at * columns.length))),
    );
  if (rows.length > MAX_CACHED_ROWS) await db.executeQuery(build(values).compile());
  else await texts.bind(db, `insert ${table} ${rows.length} ${columns}`, values, build).execute();
}

/** Inserts a row unless its key is taken; false if it is. */
export async function insertNew<Name extends Table>(
  db: Kysely<Tables>,
  table: Name,
  row: Insertable<Tables[Name]>,
): Promise<boolean> {
  const { columns, values } = writtenBy(row);
  const inserted = texts.bind(db, `insert new ${table} ${columns}`, values, (bound) =>
    insertInto(db, table, [toRow(columns, bound)])
      .onConflict((conflict) => conflict.doNothing())
      .returning(columns[0] as 'seq'),
  );
  return (await inserted.executeTakeFirst()) !== undefined;
}

function insertInto(db: Kysely<Tables>, table: Table, rows: readonly Columns[]) {
  // The columns are those of the table: the types of the callers ensure it.
  return db.insertInto(table as 'events').values(rows as unknown as Insertable<Tables['events']>[]);
}

/**
 * Updates the rows that have these values. Undefined columns stay as they are: if all are undefined, nothing is written.
 */
export async function updateRows<Name extends Table>(
  db: Kysely<Tables>,
  table: Name,
  key: RowKey<Name>,
  changes: Updateable<Tables[Name]>,
): Promise<void> {
  const written = writtenBy(changes);
  if (written.columns.length > 0) await updating(db, table, key, written).execute();
}

/** Like `updateRows`; true if there was such a row. */
export async function updateRow<Name extends Table>(
  db: Kysely<Tables>,
  table: Name,
  key: RowKey<Name>,
  changes: Updateable<Tables[Name]>,
): Promise<boolean> {
  return (await updating(db, table, key, writtenBy(changes), RETURNING).executeTakeFirst()) !== undefined;
}

function updating(
  db: Kysely<Tables>,
  table: Table,
  key: object,
  { columns, values }: ReturnType<typeof writtenBy>,
  returning = '',
) {
  const update = `update ${table} set ${columns} ${shapeOf(key)} ${returning}`;
  return bind(db, update, [...values, ...Object.values(key)], (bound) => {
    const written = db.updateTable(table as 'events').set(toRow(columns, bound));
    const updated = whereKey(written, key, bound.slice(columns.length));
    return returning ? updated.returning(columns[0] as 'seq') : updated;
  });
}

export async function deleteRows<Name extends Table>(
  db: Kysely<Tables>,
  table: Name,
  key: RowKey<Name>,
): Promise<void> {
  await deleting(db, table, key).execute();
}

/** Like `deleteRows`; true if there was such a row. */
export async function deleteRow<Name extends Table>(
  db: Kysely<Tables>,
  table: Name,
  key: RowKey<Name>,
): Promise<boolean> {
  return (await deleting(db, table, key, RETURNING).executeTakeFirst()) !== undefined;
}

function deleting(db: Kysely<Tables>, table: Table, key: object, returning = '') {
  return bindKey(db, `delete ${table} ${returning}`, key, (values) => {
    const deleted = whereKey(db.deleteFrom(table as 'events'), key, values);
    return returning ? deleted.returning(Object.keys(key)[0] as 'seq') : deleted;
  });
}

function bindKey(
  db: Kysely<Tables>,
  kind: string,
  key: object,
  build: (values: Values) => Compilable<unknown>,
): Statement<unknown> {
  return bind(db, `${kind} ${shapeOf(key)}`, Object.values(key), build);
}

/** Not cached if a value is a list, whose length may be any. */
function bind(
  db: Kysely<Tables>,
  text: string,
  values: Values,
  build: (values: Values) => Compilable<unknown>,
): Statement<unknown> {
  return values.some(Array.isArray)
    ? new Statement(db, build(values).compile())
    : texts.bind(db, text, values, build);
}

/** What a text depends on: the columns of the key, and which of them must be null. */
function shapeOf(key: object): string {
  return Object.entries(key)
    .map(([column, value]) => (value === null ? `${column} is null` : column))
    .join();
}

/** A query of any kind that takes conditions. */
interface Conditional<Query> {
  where(column: 'seq', operator: '=' | 'is' | 'in', value: number | null | readonly number[]): Query;
}

function whereKey<Query extends Conditional<Query>>(query: Query, key: object, values: Values): Query {
  return Object.entries(key).reduce((narrowed, [column, value], at) => {
    const operator = value === null ? 'is' : Array.isArray(value) ? 'in' : '=';
    return narrowed.where(column as 'seq', operator, value === null ? null : (values[at] as number));
  }, query);
}

/** The columns that are written, and their values. */
function writtenBy(changes: object): { readonly columns: readonly string[]; readonly values: Values } {
  const written = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { columns: written.map(([column]) => column), values: written.map(([, value]) => value) };
}

function toRow(columns: readonly string[], values: Values): Columns {
  return Object.fromEntries(columns.map((column, at) => [column, values[at]]));
}

/** Rows of one insert, or values of one `in`: well below the limit for a table of sixty columns. */
const BATCH = 500;

export function inBatches<Value>(values: readonly Value[]): (readonly Value[])[] {
  const count = Math.ceil(values.length / BATCH);
  return Array.from({ length: count }, (_, n) => values.slice(n * BATCH, (n + 1) * BATCH));
}

/** Runs one query for each batch, one after another, and returns the rows of all. */
export async function readInBatches<Value, Row>(
  values: readonly Value[],
  read: (batch: readonly Value[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const batch of inBatches(values)) rows.push(...(await read(batch)));
  return rows;
}
