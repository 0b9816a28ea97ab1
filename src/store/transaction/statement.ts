/**
 * Statements whose text is built once. Building and compiling one takes longer than SQLite takes to run it, and a step
 * uses about forty.
 * - Everything that varies is a parameter: while the text is built, a marker without a readable value replaces it.
 * - A text belongs to the database for which it was built, as engines differ in their SQL.
 *
 * Runs several reads in order: in one round trip on PostgreSQL, one after another on SQLite.
 */
import type { Compilable, CompiledQuery, Kysely, Transaction } from 'kysely';
import type { Tables } from '../schema/tables.ts';

/** A compiled statement with its parameters, not executed yet. */
export class Statement<Row> implements Compilable<Row> {
  readonly #db: Kysely<Tables>;
  readonly #query: CompiledQuery<Row>;

  constructor(db: Kysely<Tables>, query: CompiledQuery<Row>) {
    this.#db = db;
    this.#query = query;
  }

  compile(): CompiledQuery<Row> {
    return this.#query;
  }

  async execute(): Promise<Row[]> {
    const { rows } = await this.#db
      .getExecutor()
      .provideConnection((connection) => connection.executeQuery<Row>(this.#query));
    return rows;
  }

  async executeTakeFirst(): Promise<Row | undefined> {
    return (await this.execute())[0];
  }

  async executeTakeFirstOrThrow(): Promise<Row> {
    const row = await this.executeTakeFirst();
    if (row === undefined) throw new Error(`The query returned no row: ${this.#query.sql}`);
    return row;
  }
}

type Values = readonly unknown[];

/** `build` is called once for each database. It binds its parameters and must not read them. */
export function statement<Parameters extends Values, Row>(
  build: (db: Kysely<Tables>, ...parameters: Parameters) => Compilable<Row>,
): (db: Kysely<Tables>, ...parameters: Parameters) => Statement<Row> {
  const texts = new StatementTexts<Row>();
  return (db, ...parameters) => texts.bind(db, '', parameters, (markers) => build(db, ...markers));
}

/** The texts of statements of one kind, by the shape in which they differ. */
export class StatementTexts<Row> {
  /** By the adapter of the database. */
  readonly #texts = new WeakMap<object, Map<string, CompiledQuery<Row>>>();

  bind<Parameters extends Values>(
    db: Kysely<Tables>,
    shape: string,
    parameters: Parameters,
    build: (markers: Parameters) => Compilable<Row>,
  ): Statement<Row> {
    const texts = this.#textsOf(db);
    let text = texts.get(shape);
    if (text === undefined) {
      text = build(parameters.map((_, index) => new Marker(index)) as Values as Parameters).compile();
      texts.set(shape, text);
    }
    const values = text.parameters.map((value) =>
      value instanceof Marker ? parameters[value.index] : value,
    );
    return new Statement(db, { ...text, parameters: values });
  }

  #textsOf(db: Kysely<Tables>): Map<string, CompiledQuery<Row>> {
    const { adapter } = db.getExecutor();
    const known = this.#texts.get(adapter);
    if (known) return known;
    const texts = new Map<string, CompiledQuery<Row>>();
    this.#texts.set(adapter, texts);
    return texts;
  }
}

/** Replaces the parameter at an index while a text is built. */
class Marker {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }

  [Symbol.toPrimitive](): never {
    throw new TypeError('A parameter has no value while the text of its statement is being built.');
  }

  toJSON(): never {
    return this[Symbol.toPrimitive]();
  }
}

/** Queries that are built but not executed yet. */
export type Queries = readonly Compilable<unknown>[];

/** The rows of each query. */
export type Rows<Asked extends Queries> = {
  readonly [Index in keyof Asked]: Asked[Index] extends Compilable<infer Row> ? readonly Row[] : never;
};

export async function queryTogether<const Asked extends Queries>(
  trx: Transaction<Tables>,
  queries: Asked,
): Promise<Rows<Asked>> {
  const answers = await trx
    .getExecutor()
    .provideConnection((connection) =>
      Promise.all(queries.map((query) => connection.executeQuery(query.compile()))),
    );
  return answers.map(({ rows }) => rows) as Rows<Asked>;
}
