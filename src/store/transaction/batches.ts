/** Splits lists: one statement binds at most 32,766 variables in SQLite, and 65,535 in PostgreSQL. */

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
