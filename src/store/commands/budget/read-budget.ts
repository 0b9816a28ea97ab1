/** What an execution may spend and has spent: of the one that is under way, else of the newest. */
import type { Kysely, Transaction } from 'kysely';
import { BUDGET_LIMITS, type BudgetAccount, type BudgetLine } from '../../../core/governance/budget.ts';
import type { Tables } from '../../schema/tables.ts';
import { type CommandContext, inSnapshot } from '../base/context.ts';
import { budgetOf } from './account.ts';

export async function readBudget(context: CommandContext, threadId: string): Promise<readonly BudgetLine[]> {
  return inSnapshot(context, async (trx) => {
    const row = await trx
      .selectFrom('threads')
      .select('budget')
      .where('id', '=', threadId)
      .executeTakeFirst();
    const accounts = (row && budgetOf(row)?.accounts) ?? (await readNewest(trx, threadId));
    return accounts.length === 0 ? [] : toLines(accounts, await selectLines(trx, accounts).execute());
  });
}

async function readNewest(trx: Transaction<Tables>, threadId: string): Promise<readonly BudgetAccount[]> {
  const newest = await trx
    .selectFrom('executions')
    .select('id')
    .where('thread_id', '=', threadId)
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest ? [{ threadId, executionId: newest.id }] : [];
}

/** In the order of their keys. */
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

/** By the order of their accounts; of each, in the order in which its limits are asked. */
export function toLines(accounts: readonly BudgetAccount[], rows: readonly LineRow[]): BudgetLine[] {
  return accounts.flatMap(({ threadId, executionId }) => {
    const own = rows.filter((row) => row.thread_id === threadId && row.execution_id === executionId);
    return BUDGET_LIMITS.flatMap((limit) => own.filter(({ name }) => name === limit)).map(
      ({ name: limit, max, used, reserved, estimated, warn_at: warnAt, warned }) => ({
        ...{ threadId, executionId, limit, max, used, reserved, estimated, warnAt, warned: warned === 1 },
      }),
    );
  });
}
