/**
 * Which budgets an execution spends from: named in its thread's row, so that a thread without any is asked for none.
 * A1. They are known from the begin of the execution to its end, and the same for whatever it does.
 * A2. What an execution begins spends from its budgets too: an item in line names them (`CausedItem`). One that goes back to its own
 *     thread's, by a report or by what its own code has queued, is a part of that execution, and opens none.
 * A3. Once one of them is used up, the execution is over: whatever it asks for is denied with the same words, by the row alone.
 * A4. What the context of the execution limits is a limit of its own budget, of each the lower one. A child's context repeats its
 *     parent's: what a budget that it spends from anyway bounds as closely has no line of its own.
 * A5. What has exceeded a budget that relatives spend from as well is known until the execution's end: their approvals are closed first
 *     (wait/close-approvals.ts).
 */
import type {
  BudgetAccount,
  BudgetDefinition,
  BudgetLimit,
  BudgetLine,
} from '../../../core/governance/budget.ts';
import { BUDGET_LIMITS } from '../../../core/governance/budget.ts';
import { joinLimits, type RunLimits, WARN_AT } from '../../../core/governance/run-limit.ts';
import type { StoredError } from '../../../core/thread/step.ts';
import type { ThreadRow, ThreadTransaction } from '../base/thread-transaction.ts';
import { selectLines, toLines } from './read-lines.ts';

/** As the thread's row has it. */
export interface BudgetState {
  /** The execution's own first, its root's last. */
  readonly accounts: readonly BudgetAccount[];
  /** Its step waits for what other requests hold. */
  readonly waits?: true;
  /** What policies have warned of: `<policy>:<limit>`. */
  readonly told?: readonly string[];
  /** A3: used up. */
  readonly exceeded?: StoredError;
  /** A5: by what. */
  readonly over?: Exceeded;
}

/** What could not be spent. */
export interface Exceeded {
  readonly line: Pick<BudgetLine, 'threadId' | 'executionId' | 'limit' | 'max'>;
  /** What would have been used. */
  readonly observed: number;
}

/** Undefined where the execution spends from no budget, and between executions. */
export function budgetOf({ budget }: Pick<ThreadRow, 'budget'>): BudgetState | undefined {
  return budget === null ? undefined : (JSON.parse(budget) as BudgetState);
}

/** The mark of what a relative has put in line. It is a field of the item, which no sender can write, as anybody can write metadata. */
export interface CausedItem {
  /** A2: the budgets of whoever caused it. */
  readonly budget?: readonly BudgetAccount[];
}

/** A2: for an item that the thread's open execution puts in line, a relative's or its own. */
export function causedBy({ row }: Pick<ThreadTransaction, 'row'>): CausedItem {
  const accounts = budgetOf(row)?.accounts ?? [];
  return accounts.length === 0 ? {} : { budget: accounts };
}

/** A2: for an item that the code of an effect puts in line: the budgets of the execution that scheduled it. */
export async function causedByEffect({ trx, threadId }: ThreadTransaction, id: string): Promise<CausedItem> {
  const effect = await trx
    .selectFrom('effects')
    .select('budget')
    .where('thread_id', '=', threadId)
    .where('id', '=', id)
    .executeTakeFirst();
  return effect?.budget ? { budget: JSON.parse(effect.budget) } : {};
}

/** The budgets that an execution which begins with these rows spends from: those of the first, where nothing is from outside the family. */
export function causesOf(
  rows: readonly { readonly own: number; readonly item: CausedItem }[],
): readonly BudgetAccount[] {
  const fromOutside = rows.some(({ own, item }) => own === 0 && item.budget === undefined);
  return fromOutside ? [] : (rows.find(({ item }) => item.budget)?.item.budget ?? []);
}

/** A2: the budgets of whoever has begun the thread's open execution. */
export function budgetBehind({ id, budget }: Pick<ThreadRow, 'id' | 'budget'>): readonly BudgetAccount[] {
  return (budgetOf({ budget })?.accounts ?? []).filter(({ threadId }) => threadId !== id);
}

export interface NewExecution {
  readonly executionId: string;
  /** What its agent may spend. */
  readonly definition: BudgetDefinition | undefined;
  /** A4: of its context. */
  readonly given: RunLimits | undefined;
  /** A2: of the item that begins it; empty for one from outside. */
  readonly causes: readonly BudgetAccount[];
}

/** A1: the execution begins. One that goes by the name of an earlier one goes on with what that has left. */
export async function openBudget(
  thread: ThreadTransaction,
  { executionId, definition, given = {}, causes }: NewExecution,
): Promise<void> {
  const { threadId } = thread;
  const isPart = causes.some((cause) => cause.threadId === threadId);
  const wanted = joinLimits(isPart ? {} : (definition ?? {}), await withoutBounded(thread, given, causes));
  const limits = toLimits(wanted);
  const own = limits.length === 0 ? [] : [{ threadId, executionId }];
  if (own.length + causes.length === 0) return;
  keepBudget(thread, { accounts: [...own, ...causes] });
  await insertLines(thread, executionId, { limits, warnAt: wanted.warnAt ?? WARN_AT });
}

/** A4: those that nothing else bounds as closely. */
async function withoutBounded(
  { trx }: ThreadTransaction,
  given: RunLimits,
  causes: readonly BudgetAccount[],
): Promise<RunLimits> {
  if (causes.length === 0 || toLimits(given).length === 0) return given;
  const lines = toLines(causes, await selectLines(trx, causes).execute());
  const isBounded = (limit: BudgetLimit) =>
    lines.some((line) => line.limit === limit && line.max <= (given[limit] ?? 0));
  return Object.fromEntries(Object.entries(given).filter(([name]) => !isBounded(name as BudgetLimit)));
}

interface NewLines {
  readonly limits: readonly (readonly [BudgetLimit, number])[];
  readonly warnAt: number;
}

/** Those that are there stay. */
export async function insertLines(
  { threadId, trx }: ThreadTransaction,
  executionId: string,
  { limits, warnAt }: NewLines,
): Promise<void> {
  if (limits.length === 0) return;
  await trx
    .insertInto('budgets')
    .values(
      limits.map(([name, max]) => ({
        ...{ thread_id: threadId, execution_id: executionId, name, max },
        ...{ used: 0, reserved: 0, estimated: 0, warn_at: warnAt, warned: 0 },
        running: null,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export function toLimits(definition: RunLimits | undefined): readonly (readonly [BudgetLimit, number])[] {
  return BUDGET_LIMITS.flatMap((limit) => {
    const max = definition?.[limit];
    return max === undefined ? [] : [[limit, max] as const];
  });
}

export function keepBudget(thread: ThreadTransaction, state: BudgetState): void {
  thread.set({ budget: JSON.stringify(state) });
}

/** A1: the execution has ended. What it has spent from is kept, for whoever asks then. */
export async function closeBudget(thread: ThreadTransaction, executionId: string | null): Promise<void> {
  const state = budgetOf(thread.row);
  if (!state) return;
  thread.set({ budget: null });
  if (executionId === null) return;
  await thread.trx
    .updateTable('executions')
    .set({ budget: JSON.stringify(state.accounts) })
    .where('thread_id', '=', thread.threadId)
    .where('id', '=', executionId)
    .execute();
}
