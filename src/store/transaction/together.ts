/** Runs several reads in order: in one round trip on PostgreSQL, one after another on SQLite. */
import type { Compilable, Transaction } from 'kysely';
import type { Tables } from '../schema/tables.ts';

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
