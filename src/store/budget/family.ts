/**
 * The ceiling of model calls of a family: of everything that one execution of a root has caused, in whichever threads.
 * F1. It is opened when an execution first makes a child or sends a message to one: a thread without children has no row. What the
 *     execution has asked before is not counted.
 * F2. It goes wherever the execution's budgets go (account.ts, A2): with children, messages between relatives, reports and effects. So
 *     executions that cause each other in turn count as one family.
 */
import { WARN_AT } from '../../core/governance/run-limit.ts';
import type { CommandContext } from '../transaction/context.ts';
import { selectRows } from '../transaction/rows.ts';
import { statement } from '../transaction/statement.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { budgetOf, insertLines, keepBudget } from './account.ts';

const selectOpen = statement((db, threadId: string) =>
  selectRows(db, 'executions', { thread_id: threadId, ended_at: null }).select('id').limit(1),
);

/** F1: called before the thread's open execution causes work of a child; changes nothing if the execution has a ceiling. */
export async function openFamily(
  { familyCalls }: Pick<CommandContext, 'familyCalls'>,
  thread: ThreadTransaction,
): Promise<void> {
  const { accounts = [], ...state } = budgetOf(thread.row) ?? {};
  if (familyCalls === 0 || accounts.some(({ family }) => family)) return;
  const { threadId, trx } = thread;
  // F2: the budget of the execution that has caused all of this, if that was in this thread.
  const root = accounts.findLast((account) => account.threadId === threadId);
  const executionId = root?.executionId ?? (await selectOpen(trx, threadId).executeTakeFirst())?.id;
  if (executionId === undefined) return;
  const family = { threadId, executionId, family: root ? 'too' : 'only' } as const;
  const counted = root
    ? accounts.map((account) => (account === root ? family : account))
    : [family, ...accounts];
  keepBudget(thread, { ...state, accounts: counted });
  await insertLines(thread, executionId, { limits: [['familyCalls', BigInt(familyCalls)]], warnAt: WARN_AT });
}
