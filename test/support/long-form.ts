/** Tests whose long form repeats what the short one shows: `*.soak.ts` beside a `*.test.ts` runs the same file in its long form. */

export const isLong = process.env.EVERTHREAD_SOAK === '1';

/** The rows of a table without those that the long form alone has: others of the same kind stay. */
export function rowsOf<Row>(
  table: Readonly<Record<string, Row>>,
  ...inLongFormAlone: readonly string[]
): [string, Row][] {
  const unknown = inLongFormAlone.filter((name) => !(name in table));
  if (unknown.length > 0) throw new Error(`The table has no ${unknown.join(', ')}.`);
  return Object.entries(table).filter(([name]) => isLong || !inLongFormAlone.includes(name));
}
