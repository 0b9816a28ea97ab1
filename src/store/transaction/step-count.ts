/**
 * Counts the steps of a thread, in counters of its row: those that count against step limits
 * (core/thread/step-limit.ts), and the model steps of an execution. They are in the store, so a run that continues
 * after a killed one finds the same.
 * - The count against the limits restarts with an execution that has input from outside in line, or that a person has
 *   let go on, and with no other.
 * - A step counts from its opening, whatever its outcome, unless a new run has to open another in its place.
 * - The model steps of an execution are those that have an answer or wait for one.
 * - Open steps of every kind are counted. Usually none is open when a step begins, and then no query is needed.
 */
import type { Transaction } from 'kysely';
import type { Side } from '../../core/author/thread-execution.ts';
import type { SideSteps } from '../../core/thread/session.ts';
import type { Tables } from '../schema/tables.ts';
import { hasRow, selectRows } from './rows.ts';
import type { StepRow } from './step-row.ts';
import type { ThreadRow, ThreadTransaction } from './thread-transaction.ts';

/** Steps of each side against the limits, including the open one. */
export function countedSteps({ counted_a: a, counted_b: b }: Pick<ThreadRow, 'counted_a' | 'counted_b'>) {
  return { a, b } satisfies SideSteps;
}

/** Model steps of each side in the newest execution, including the open one. */
export function askedSteps({ asked_a: a, asked_b: b }: Pick<ThreadRow, 'asked_a' | 'asked_b'>) {
  return { a, b } satisfies SideSteps;
}

type Counted = Pick<StepRow, 'step' | 'kind' | 'side'>;

/** Counts a new step, open or not. */
export function countStep(thread: ThreadTransaction, made: Counted & Pick<StepRow, 'state'>): void {
  addCounted(thread, made, 1);
  addAsked(thread, made, 1);
  if (made.state === 'open') thread.set({ open_steps: thread.row.open_steps + 1 });
}

/** The step is no longer open, for whatever reason. */
export function closeStep(thread: ThreadTransaction): void {
  thread.set({ open_steps: thread.row.open_steps - 1 });
}

/** The step that replaces it counts instead. */
export function uncountStep(thread: ThreadTransaction, abandoned: Counted): void {
  addCounted(thread, abandoned, -1);
  addAsked(thread, abandoned, -1);
  closeStep(thread);
}

/** The step will have no answer. */
export function uncountAskedStep(thread: ThreadTransaction, failed: Counted): void {
  addAsked(thread, failed, -1);
  closeStep(thread);
}

function addCounted(thread: ThreadTransaction, { step, kind, side }: Counted, by: 1 | -1): void {
  if (step < thread.row.counted_from || (kind !== 'model' && kind !== 'tools')) return;
  const { a, b } = countedSteps(thread.row);
  thread.set(side === 'a' ? { counted_a: a + by } : { counted_b: b + by });
}

function addAsked(thread: ThreadTransaction, { step, kind, side }: Counted, by: 1 | -1): void {
  if (step < thread.row.asked_from || kind !== 'model') return;
  const { a, b } = askedSteps(thread.row);
  thread.set(side === 'a' ? { asked_a: a + by } : { asked_b: b + by });
}

/** Restarts the count if the new execution requires it. `inLine`: its first items, as far as known. */
export async function beginCount(
  thread: ThreadTransaction,
  inLine: readonly { readonly own: number }[],
  { unprompted = false }: { readonly unprompted?: boolean },
): Promise<void> {
  const outside =
    unprompted || inLine.some(({ own }) => own === 0) || (await hasOutsideInput(thread.trx, thread.threadId));
  if (!outside) return;
  thread.set({ counted_from: thread.row.last_step + 1, counted_a: 0, counted_b: 0 });
  beginAsking(thread);
}

/**
 * Restarts the count for a new execution. One that reuses the id of an earlier execution, as after a reset,
 * restarts only with outside input, or if a person has let it go on.
 */
export function beginAsking(thread: ThreadTransaction): void {
  thread.set({ asked_from: thread.row.last_step + 1, asked_a: 0, asked_b: 0 });
}

/** True if an item is in line that the thread's own executions have not queued. */
export async function hasOutsideInput(db: Transaction<Tables>, threadId: string): Promise<boolean> {
  return hasRow(db, 'items', { thread_id: threadId, state: 'queued', own: 0 });
}

/** Returns the open steps, in order. */
export async function readOpenSteps(
  db: Transaction<Tables>,
  { id, open_steps: open }: Pick<ThreadRow, 'id' | 'open_steps'>,
): Promise<StepRow[]> {
  if (open === 0) return [];
  const rows = await selectRows(db, 'steps', { thread_id: id, state: 'open' }).selectAll().execute();
  // Sorted here: with an `order by`, SQLite would scan all steps in order instead of reading only the open ones.
  return rows.sort((one, other) => one.step - other.step);
}

/**
 * Steps that count against the limits. An open step is not counted: it is a retired run's and will be replaced.
 */
export async function countEnded(db: Transaction<Tables>, thread: ThreadRow): Promise<SideSteps> {
  const open = await readOpenSteps(db, thread);
  return less(
    countedSteps(thread),
    open.filter(({ step }) => step >= thread.counted_from),
  );
}

/** Counts the steps that have an answer. */
export async function countAnswered(db: Transaction<Tables>, thread: ThreadRow): Promise<SideSteps> {
  const open = await readOpenSteps(db, thread);
  return less(
    askedSteps(thread),
    open.filter(({ step }) => step >= thread.asked_from),
  );
}

function less({ a, b }: SideSteps, open: readonly StepRow[]): SideSteps {
  const of = (side: Side) => open.filter((each) => each.kind === 'model' && each.side === side).length;
  return { a: a - of('a'), b: b - of('b') };
}
