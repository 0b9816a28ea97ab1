/**
 * Locks, changes and logs lines of budgets, in one transaction.
 * L1. Budget rows are locked after all other rows of a transaction, in key order: only they are shared by threads.
 */
import { describeExceeded } from '../../core/governance/budget.ts';
import { type Amount, type CountedLine, toShown } from '../../core/governance/budget-amount.ts';
import type { BudgetAccount } from '../../core/governance/budget-line.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { CommandContext } from '../transaction/context.ts';
import { updateRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { type BudgetState, keepBudget } from './account.ts';
import { selectLines, toLines } from './read-lines.ts';

/** The step to which the logged events belong. */
export interface SpendingPlace {
  readonly step?: number;
}

/** L1: locks in key order; returns the lines of the innermost account first. */
export async function lockLines(
  { rowLocks }: Pick<CommandContext, 'rowLocks'>,
  { trx }: ThreadTransaction,
  accounts: readonly BudgetAccount[],
): Promise<readonly CountedLine[]> {
  const query = selectLines(trx, accounts);
  return toLines(accounts, await (rowLocks ? query.forUpdate() : query).execute());
}

export async function updateLines({ trx }: ThreadTransaction, lines: readonly CountedLine[]): Promise<void> {
  for (const { threadId, executionId, limit, used, reserved, estimated, warned } of lines)
    await updateRows(
      trx,
      'budgets',
      { thread_id: threadId, execution_id: executionId, name: limit },
      {
        ...{ used_units: used, reserved_units: reserved, estimated_units: estimated },
        warned: warned ? 1 : 0,
      },
    );
}

export function emitWarnings(
  thread: ThreadTransaction,
  lines: readonly CountedLine[],
  place: SpendingPlace,
): void {
  for (const { threadId, executionId, limit, max, used } of lines)
    thread.emit(
      'budget.warning',
      {
        ...{ executionId, ...otherThread(thread, threadId), limit },
        ...{ max: toShown(limit, max), used: toShown(limit, used) },
      },
      place,
    );
}

/** An amount that could not be spent. `message`: the text of the error; by default that of `describeExceeded`. */
export interface Exceeding {
  readonly line: Pick<CountedLine, 'threadId' | 'executionId' | 'limit' | 'max'>;
  /** The amount that would have been used. */
  readonly observed: Amount;
  readonly message?: string;
}

/** Marks the execution as over (account.ts, A3). */
export function markExceeded(
  thread: ThreadTransaction,
  state: BudgetState,
  { line, observed, message }: Exceeding,
  place: SpendingPlace,
): StoredError {
  const { threadId, executionId, limit } = line;
  const [max, reached] = [toShown(limit, line.max), toShown(limit, observed)];
  const text = message ?? describeExceeded(line, observed, thread.threadId);
  const error = { code: 'BudgetExceeded', message: text };
  thread.emit(
    'budget.exceeded',
    { executionId, ...otherThread(thread, threadId), limit, max, observed: reached },
    place,
  );
  const over = { line: { threadId, executionId, limit, max }, observed: reached };
  // A cost that could not be determined leaves the budget usable for relatives.
  keepBudget(thread, { ...state, exceeded: error, over: message === undefined ? over : undefined });
  return error;
}

/** The budget's thread, in events; omitted if it is this thread. */
export function otherThread(thread: ThreadTransaction, threadId: string): { threadId?: string } {
  return threadId === thread.threadId ? {} : { threadId };
}
