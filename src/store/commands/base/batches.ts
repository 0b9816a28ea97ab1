/** Statements over lists of any length: an engine binds so many variables to one, SQLite 32,766 and PostgreSQL 65,535. */

/** Rows of one insert, values of one `in`: well below the bound for a table of sixty columns. */
const BATCH = 500;

export function inBatches<Value>(values: readonly Value[]): (readonly Value[])[] {
  const count = Math.ceil(values.length / BATCH);
  return Array.from({ length: count }, (_, n) => values.slice(n * BATCH, (n + 1) * BATCH));
}

/** The rows of one query for each batch, one after another. */
export async function readInBatches<Value, Row>(
  values: readonly Value[],
  read: (batch: readonly Value[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const batch of inBatches(values)) rows.push(...(await read(batch)));
  return rows;
}
