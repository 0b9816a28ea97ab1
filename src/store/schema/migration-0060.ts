/**
 * 0060: money as whole numbers of 10⁻¹² US dollars, and amounts of budgets in whole units (core/governance/budget-amount.ts).
 * Columns have new names, so that a worker of an earlier version that still runs fails instead of spending by another measure. Only the
 * cost of a model call keeps its old column, which such a worker fills: what it was paid for is not lost.
 */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

/** SQLite and PostgreSQL hold whole numbers of 64 bits in it; both return them as bigints (whole-number.ts). */
const WHOLE = 'numeric(19, 0)';

/** The largest whole number of 64 bits. */
const MOST = 9_223_372_036_854_775_807n;
const COST = 1_000_000_000_000;
const MICROS_PER_SECOND = 1_000_000;

interface Replaced {
  readonly table: keyof Tables;
  readonly from: string;
  readonly to: string;
  /** Units of the new column in one of the old. */
  readonly units: ReturnType<typeof sql>;
}

const LIMIT_UNITS = sql`case name when 'maxCost' then ${sql.lit(COST)} when 'maxRuntimeSeconds' then ${sql.lit(MICROS_PER_SECOND)} else 1 end`;
const USD_UNITS = sql`${sql.lit(COST)}`;

const REPLACED: readonly Replaced[] = [
  ...['max', 'used', 'reserved', 'estimated'].map(
    (from): Replaced => ({ table: 'budgets', from, to: `${from}_units`, units: LIMIT_UNITS }),
  ),
  { table: 'budget_reservations', from: 'cost', to: 'cost_pico', units: USD_UNITS },
  { table: 'tasks', from: 'spent', to: 'spent_pico', units: USD_UNITS },
  { table: 'task_steps', from: 'cost', to: 'cost_pico', units: USD_UNITS },
];

export const wholeMoney: Migration = {
  async up(db: Kysely<Tables>) {
    await db.schema.alterTable('model_calls').addColumn('cost_pico', WHOLE).execute();
    await db.schema.alterTable('model_calls').addColumn('price', 'text').execute();
    for (const { table, from, to, units } of REPLACED) {
      await db.schema
        .alterTable(table)
        .addColumn(to, WHOLE, (c) => c.notNull().defaultTo(0))
        .execute();
      const amount = sql`${sql.ref(from)} * ${units}`;
      // 2^63 as a fraction is above what 64 bits hold, and engines differ in the rounding of fractions to it.
      await sql`
        update ${sql.table(table)} set ${sql.ref(to)} =
          case when ${amount} >= 9.2e18 then ${sql.lit(MOST)} else cast(round(${amount}) as bigint) end
      `.execute(db);
      await db.schema.alterTable(table).dropColumn(from).execute();
    }
  },
};
