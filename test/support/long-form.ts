/**
 * Support for tests with a short and a long form. The long form repeats what the short one shows: `*.soak.ts` beside a
 * `*.test.ts` runs the same file in the long form.
 */

export const isLong = process.env.EVERTHREAD_SOAK === '1';

/** Returns the rows of a table; the short form omits those named in `inLongFormAlone`, whose kind other rows cover. */
export function rowsOf<Row>(
  table: Readonly<Record<string, Row>>,
  ...inLongFormAlone: readonly string[]
): [string, Row][] {
  const unknown = inLongFormAlone.filter((name) => !(name in table));
  if (unknown.length > 0) throw new Error(`The table has no ${unknown.join(', ')}.`);
  return Object.entries(table).filter(([name]) => isLong || !inLongFormAlone.includes(name));
}
