/**
 * The schema of a store as its engine's own catalogue tells it, as text: tables, columns in their order, keys, indexes,
 * and the rows that a new store has. Random ids and times are replaced.
 * Not read: check constraints of SQLite, which its catalogue does not have apart from the text of a table.
 */
import { DatabaseSync } from 'node:sqlite';
import type { TestDatabase } from '../support/postgres.ts';

type Row = Record<string, unknown>;
type Ask = (sql: string) => Promise<readonly Row[]>;

interface Table {
  readonly name: string;
  readonly columns: readonly Row[];
  /** Keys, indexes and triggers. */
  readonly rest: readonly string[];
}

export async function describeSqlite(file: string): Promise<string> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const ask: Ask = async (sql) => database.prepare(sql).all();
    const names = await ask(
      "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%'",
    );
    const tables = await Promise.all(names.map(({ name }) => readSqliteTable(ask, String(name))));
    return await describe(tables, ask);
  } finally {
    database.close();
  }
}

async function readSqliteTable(ask: Ask, name: string): Promise<Table> {
  const columns = await ask(`
    select name, type, "notnull" as required, dflt_value as "default" from pragma_table_xinfo('${name}')`);
  // Indexes that a key of the table has caused have no text of their own.
  const keys = await ask(`
    select case origin when 'pk' then 'primary key' else 'unique' end as kind,
      (select group_concat(name, ', ' order by seqno) from pragma_index_info(list.name)) as columns
    from pragma_index_list('${name}') as list where origin <> 'c'`);
  const foreign = await ask(
    `select "from", "table", "to", on_delete from pragma_foreign_key_list('${name}')`,
  );
  const made = await ask(
    `select sql from sqlite_master where tbl_name = '${name}' and type in ('index', 'trigger', 'view') and sql is not null`,
  );
  return {
    name,
    columns,
    rest: [
      ...keys.map(({ kind, columns: of }) => `${kind} (${of})`),
      ...foreign.map((row) => `foreign key ${JSON.stringify(row)}`),
      ...made.map(({ sql }) => String(sql).replace(/\s+/g, ' ')),
    ],
  };
}

/** Describes the schema `public`. */
export async function describePostgres({ query }: TestDatabase): Promise<string> {
  const ask: Ask = (sql) => query(sql);
  const columns = await ask(`
    select relname as "table", attname as name, format_type(atttypid, atttypmod) as type, attnotnull as required,
      pg_get_expr(adbin, adrelid) as "default"
    from pg_attribute join pg_class on pg_class.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where relnamespace = 'public'::regnamespace and relkind not in ('i', 'I') and attnum > 0 and not attisdropped
    order by attrelid, attnum`);
  // Whether a column may be null is told with the column, and is a constraint only since PostgreSQL 18.
  const rest = await ask(`
    select conrelid::regclass::text as "table", 'constraint ' || conname || ' ' || pg_get_constraintdef(oid) as text
    from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n'
    union all
    select tablename, indexdef from pg_indexes where schemaname = 'public'
      and indexname not in (select conname from pg_constraint where connamespace = 'public'::regnamespace)
    union all
    select tgrelid::regclass::text, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal`);
  const routines = await ask(`
    select 'routine ' || oid::regprocedure as text from pg_proc where pronamespace = 'public'::regnamespace`);
  const tables = [...new Set(columns.map(({ table }) => String(table)))].map((name) => ({
    name,
    columns: columns.filter(({ table }) => table === name),
    rest: rest
      .filter(({ table }) => table === name)
      .map(({ text }) => String(text).replaceAll('public.', '').replace(' USING btree', '')),
  }));
  return [await describe(tables, ask), ...routines.map(({ text }) => `${text}\n`)].join('\n');
}

async function describe(tables: readonly Table[], ask: Ask): Promise<string> {
  const sorted = tables.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const texts: string[] = [];
  for (const { name, columns, rest } of sorted) {
    const rows = await ask(`select * from ${name}`);
    texts.push(
      [
        `table ${name}`,
        ...columns.map((column) => `  ${describeColumn(column)}`),
        ...rest.toSorted().map((line) => `  ${line}`),
        ...rows.map((row) => `  row ${withoutChance(JSON.stringify(row))}`).toSorted(),
        '',
      ].join('\n'),
    );
  }
  return texts.join('\n');
}

function describeColumn({ name, type, required, default: value }: Row): string {
  return `${name} ${type}${required ? ' not null' : ''}${value === null ? '' : ` default ${value}`}`;
}

function withoutChance(text: string): string {
  return text
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '(random)')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '(time)');
}
