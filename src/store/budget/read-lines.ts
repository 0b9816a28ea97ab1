/** Reads the lines of budgets. */
import type { Kysely } from 'kysely';
import type { CountedLine } from '../../core/governance/budget-amount.ts';
import { type BudgetAccount, LINE_LIMITS, type RunningClock } from '../../core/governance/budget-line.ts';
import type { Tables } from '../schema/tables.ts';

/** Selects in key order. */
export function selectLines(db: Kysely<Tables>, accounts: readonly BudgetAccount[]) {
  return db
    .selectFrom('budgets')
    .selectAll()
    .where((is) =>
      is.or(
        accounts.map(({ threadId, executionId }) =>
          is.and({ thread_id: threadId, execution_id: executionId }),
        ),
      ),
    )
    .orderBy('thread_id')
    .orderBy('execution_id')
    .orderBy('name');
}

type LineRow = Awaited<ReturnType<ReturnType<typeof selectLines>['execute']>>[number];

/** Ordered by account; within an account, in the order in which limits are checked. */
export function toLines(accounts: readonly BudgetAccount[], rows: readonly LineRow[]): CountedLine[] {
  return accounts.flatMap(({ threadId, executionId }) => {
    const own = rows.filter((row) => row.thread_id === threadId && row.execution_id === executionId);
    return LINE_LIMITS.flatMap((limit) => own.filter(({ name }) => name === limit)).map(
      ({ name: limit, warn_at: warnAt, warned, running, ...row }) => ({
        ...{ threadId, executionId, limit, warnAt, warned: warned === 1 },
        ...{ max: row.max_units, used: row.used_units },
        ...{ reserved: row.reserved_units, estimated: row.estimated_units },
        running: running === null ? undefined : (JSON.parse(running) as RunningClock),
      }),
    );
  });
}
