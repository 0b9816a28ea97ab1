/**
 * The budgets that an execution spends from, kept in its thread's row: a thread without any needs no query.
 * - The budgets of an execution are fixed from its beginning to its end, whatever it does.
 * A2. Work that an execution causes spends from its budgets too: a queued item names them (`CausedItem`). An item that
 *     comes back to the execution's thread, in a report or from its own code, is part of that execution and opens no
 *     budget.
 * A3. Once a budget is used up, the execution is over: the thread's row alone denies each further request, with one
 *     error.
 * - Limits in the execution's context are limits of its own budget; the lower of two applies. A child's context
 *   repeats its parent's: a limit that an inherited budget bounds as closely gets no line of its own.
 * - If relatives also spend from an exceeded budget, that is kept until the execution ends: their approvals are
 *   closed first (wait/close-approvals.ts).
 *
 * The ceiling of model calls of a family: of everything that one execution of a root has caused, in whichever threads.
 * - It is opened when an execution first makes a child or sends a message to one: a thread without children has no row. What the
 *   execution has asked before is not counted.
 * - It goes wherever the execution's budgets go (A2): with children, messages between relatives, reports and effects. So
 *   executions that cause each other in turn count as one family.
 */

import type { Kysely } from 'kysely';
import type { BudgetDefinition } from '../../core/governance/budget.ts';
import { type Amount, type CountedLine, toAmount } from '../../core/governance/budget-amount.ts';
import {
  BUDGET_LIMITS,
  type BudgetAccount,
  type BudgetLimit,
  type BudgetLine,
  LINE_LIMITS,
  type LineLimit,
  type RunningClock,
} from '../../core/governance/budget-line.ts';
import { joinLimits, type RunLimits, WARN_AT } from '../../core/governance/run-limit.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { Tables } from '../schema/tables.ts';
import type { CommandContext } from '../transaction/context.ts';
import { selectRows } from '../transaction/rows.ts';
import { statement } from '../transaction/statement.ts';
import type { ThreadRow, ThreadTransaction } from '../transaction/thread-transaction.ts';

/** The `budget` column of the thread's row. */
export interface BudgetState {
  /** The execution's own account first, its root's last. */
  readonly accounts: readonly BudgetAccount[];
  /** Set if its step waits for amounts that other requests have reserved. */
  readonly waits?: true;
  /** Warnings of policies that are logged already: `<policy>:<limit>`. */
  readonly told?: readonly string[];
  /** A3: the error, once a budget is used up. */
  readonly exceeded?: StoredError;
  /** The budget line that is used up. */
  readonly over?: Exceeded;
}

/** An amount that could not be spent, as people read it. */
export interface Exceeded {
  readonly line: Pick<BudgetLine, 'threadId' | 'executionId' | 'limit' | 'max'>;
  /** The amount that would have been used. */
  readonly observed: number;
}

/** Undefined if the execution spends from no budget, and between executions. */
export function budgetOf({ budget }: Pick<ThreadRow, 'budget'>): BudgetState | undefined {
  return budget === null ? undefined : JSON.parse(budget);
}

/** Marks an item that a thread of the family has queued: a field that, unlike metadata, no sender can write. */
export interface CausedItem {
  /** A2: the budgets of the execution that has caused the item. */
  readonly budget?: readonly BudgetAccount[];
}

/** The accounts with limits that an agent or a context sets: the ceiling of a family alone is not one. */
export function limitedAccounts(state: Pick<BudgetState, 'accounts'> | undefined): readonly BudgetAccount[] {
  return (state?.accounts ?? []).filter(({ family }) => family !== 'only');
}

/** A2: the mark for an item that the thread's open execution queues, to a relative or to its own thread. */
export function causedBy({ row }: Pick<ThreadTransaction, 'row'>): CausedItem {
  const accounts = budgetOf(row)?.accounts ?? [];
  return accounts.length === 0 ? {} : { budget: accounts };
}

/** A2: the mark for an item that an effect's code queues: the budgets of the execution that scheduled the effect. */
export async function causedByEffect(thread: ThreadTransaction, id: string): Promise<CausedItem> {
  const effect = await thread.find('effects', { id }, ['budget']);
  return effect?.budget ? { budget: JSON.parse(effect.budget) } : {};
}

/** The inherited budgets of an execution that begins with these rows; none if an item is from outside the family. */
export function causesOf(
  rows: readonly { readonly own: number; readonly item: CausedItem }[],
): readonly BudgetAccount[] {
  const fromOutside = rows.some(({ own, item }) => own === 0 && item.budget === undefined);
  return fromOutside ? [] : (rows.find(({ item }) => item.budget)?.item.budget ?? []);
}

/** A2: the budgets that the thread's open execution has inherited from other threads. */
export function budgetBehind({ id, budget }: Pick<ThreadRow, 'id' | 'budget'>): readonly BudgetAccount[] {
  return (budgetOf({ budget })?.accounts ?? []).filter(({ threadId }) => threadId !== id);
}

interface NewExecution {
  readonly executionId: string;
  /** What the agent may spend by its definition. */
  readonly definition: BudgetDefinition | undefined;
  /** The limits in the execution's context. */
  readonly given: RunLimits | undefined;
  /** A2: the budgets that the first item names; empty for an item from outside. */
  readonly causes: readonly BudgetAccount[];
}

/** Opens the budgets of an execution. One that reuses an earlier one's id continues with what is left of its. */
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
  saveBudget(thread, { accounts: [...own, ...causes] });
  await insertLines(thread, executionId, { limits, warnAt: wanted.warnAt ?? WARN_AT });
}

/** The limits that no inherited budget bounds as closely. */
async function withoutBounded(
  { trx }: ThreadTransaction,
  given: RunLimits,
  causes: readonly BudgetAccount[],
): Promise<RunLimits> {
  if (causes.length === 0 || toLimits(given).length === 0) return given;
  const lines = toLines(causes, await selectLines(trx, causes).execute());
  const isBounded = (limit: BudgetLimit) =>
    lines.some((line) => line.limit === limit && line.max <= toAmount(limit, given[limit] ?? 0));
  return Object.fromEntries(Object.entries(given).filter(([name]) => !isBounded(name as BudgetLimit)));
}

interface NewLines {
  readonly limits: readonly (readonly [LineLimit, Amount])[];
  readonly warnAt: number;
}

/** Lines that exist already stay as they are. */
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
        thread_id: threadId,
        execution_id: executionId,
        name,
        max_units: max,
        used_units: 0n,
        reserved_units: 0n,
        estimated_units: 0n,
        warn_at: warnAt,
        warned: 0,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export function toLimits(definition: RunLimits | undefined): readonly (readonly [BudgetLimit, Amount])[] {
  return BUDGET_LIMITS.flatMap((limit) => {
    const max = definition?.[limit];
    return max === undefined ? [] : [[limit, toAmount(limit, max)] as const];
  });
}

export function saveBudget(thread: ThreadTransaction, state: BudgetState): void {
  thread.set({ budget: JSON.stringify(state) });
}

/** The execution has ended. The accounts that it has spent from are stored with it, for later reads. */
export async function closeBudget(thread: ThreadTransaction, executionId: string | null): Promise<void> {
  const state = budgetOf(thread.row);
  if (!state) return;
  thread.set({ budget: null });
  if (executionId === null) return;
  await thread.update('executions', { id: executionId }, { budget: JSON.stringify(state.accounts) });
}

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
        threadId,
        executionId,
        limit,
        warnAt,
        warned: warned === 1,
        max: row.max_units,
        used: row.used_units,
        reserved: row.reserved_units,
        estimated: row.estimated_units,
        running: running === null ? undefined : (JSON.parse(running) as RunningClock),
      }),
    );
  });
}

const selectOpen = statement((db, threadId: string) =>
  selectRows(db, 'executions', { thread_id: threadId, ended_at: null }).select('id').limit(1),
);

/** Called before the thread's open execution causes work of a child; changes nothing if the execution has a ceiling. */
export async function openFamily({ familyCalls }: CommandContext, thread: ThreadTransaction): Promise<void> {
  const { accounts = [], ...state } = budgetOf(thread.row) ?? {};
  if (familyCalls === 0 || accounts.some(({ family }) => family)) return;
  const { threadId, trx } = thread;
  // The budget of the execution that has caused all of this, if that was in this thread.
  const root = accounts.findLast((account) => account.threadId === threadId);
  const executionId = root?.executionId ?? (await selectOpen(trx, threadId).executeTakeFirst())?.id;
  if (executionId === undefined) return;
  const family = { threadId, executionId, family: root ? 'too' : 'only' } as const;
  const counted = root
    ? accounts.map((account) => (account === root ? family : account))
    : [family, ...accounts];
  saveBudget(thread, { ...state, accounts: counted });
  await insertLines(thread, executionId, { limits: [['familyCalls', BigInt(familyCalls)]], warnAt: WARN_AT });
}
