/**
 * How many steps a thread has taken, as counters in its row: what the limits of steps ask for (core/thread/step-limit.ts), and the model
 * steps of an execution. They are the store's, so they are the same for a run that goes on where another one was killed.
 * C1. The count for the limits begins anew with an execution that has input from outside in line, or that a person has let go on, and
 *     with no other.
 * C2. A step counts from its opening, whatever becomes of it, unless a new run has to open another in its place.
 * C3. The model steps of an execution are those that have an answer or wait for one.
 * C4. Open steps are counted, of whatever kind: as a step begins there is none as a rule, and nobody looks for it.
 */
import type { Transaction } from 'kysely';
import type { Side } from '../../../core/author/thread-execution.ts';
import type { SideSteps } from '../../../core/thread/session.ts';
import type { Tables } from '../../schema/tables.ts';
import type { StepRow } from './step-row.ts';
import type { ThreadRow, ThreadTransaction } from './thread-transaction.ts';

/** Steps of each side against the limits, the open one among them. */
export function countedSteps({ counted_a: a, counted_b: b }: Pick<ThreadRow, 'counted_a' | 'counted_b'>) {
  return { a, b } satisfies SideSteps;
}

/** Model steps of each side in the newest execution, the open one among them. */
export function askedSteps({ asked_a: a, asked_b: b }: Pick<ThreadRow, 'asked_a' | 'asked_b'>) {
  return { a, b } satisfies SideSteps;
}

type Counted = Pick<StepRow, 'step' | 'kind' | 'side'>;

/** A step is made, open or not. */
export function countStep(thread: ThreadTransaction, made: Counted & Pick<StepRow, 'state'>): void {
  addCounted(thread, made, 1);
  addAsked(thread, made, 1);
  if (made.state === 'open') thread.set({ open_steps: thread.row.open_steps + 1 });
}

/** C4: it is open no more, whatever has ended it. */
export function closeStep(thread: ThreadTransaction): void {
  thread.set({ open_steps: thread.row.open_steps - 1 });
}

/** C2: the step in its place counts. */
export function uncountStep(thread: ThreadTransaction, abandoned: Counted): void {
  addCounted(thread, abandoned, -1);
  addAsked(thread, abandoned, -1);
  closeStep(thread);
}

/** C3: it will have no answer. */
export function unaskStep(thread: ThreadTransaction, failed: Counted): void {
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

/** C1: a new execution, and who asked for it. `inLine`: what it begins with, as far as that is known. */
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

/** C3: a new execution, whoever asked for it; one that goes by the name of an earlier one, as after a reset, where others have asked. */
export function beginAsking(thread: ThreadTransaction): void {
  thread.set({ asked_from: thread.row.last_step + 1, asked_a: 0, asked_b: 0 });
}

/** Something is in line that the thread's own executions have not queued. */
export async function hasOutsideInput(db: Transaction<Tables>, threadId: string): Promise<boolean> {
  const item = await db
    .selectFrom('items')
    .select('id')
    .where('thread_id', '=', threadId)
    .where('state', '=', 'queued')
    .where('own', '=', 0)
    .limit(1)
    .executeTakeFirst();
  return item !== undefined;
}

/** C4: the open steps, in order. */
export async function readOpenSteps(
  db: Transaction<Tables>,
  { id, open_steps: open }: Pick<ThreadRow, 'id' | 'open_steps'>,
): Promise<StepRow[]> {
  if (open === 0) return [];
  const rows = await db
    .selectFrom('steps')
    .selectAll()
    .where('thread_id', '=', id)
    .where('state', '=', 'open')
    .execute();
  // In order here: asked to, SQLite would walk all steps in order instead of taking the few that are open.
  return rows.sort((one, other) => one.step - other.step);
}

/** Against the limits, before a step that is to begin. One that is still open is a retired run's, and will be replaced (C2). */
export async function countEnded(db: Transaction<Tables>, thread: ThreadRow): Promise<SideSteps> {
  const open = await readOpenSteps(db, thread);
  return less(
    countedSteps(thread),
    open.filter(({ step }) => step >= thread.counted_from),
  );
}

/** C3: those that have an answer. */
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
