/** Several reads at once: on PostgreSQL in one way to the server and back, on SQLite one after the other, in this order on both. */
import type { Compilable, Transaction } from 'kysely';
import type { Tables } from '../../schema/tables.ts';

/** Queries that are built, and not asked yet. */
export type Queries = readonly Compilable<unknown>[];

/** The rows of each query. */
export type Rows<Asked extends Queries> = {
  readonly [Index in keyof Asked]: Asked[Index] extends Compilable<infer Row> ? readonly Row[] : never;
};

export async function askTogether<const Asked extends Queries>(
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
