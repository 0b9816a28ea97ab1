/**
 * Pending effects (definitions §10): scheduled, listed, removed.
 * F1. Due times come from the clock that all processes of the store share: a delay is a minimum, whichever processes
 *     schedule the effect and check for it.
 * F2. No two effects of a thread are due in the same microsecond: the one scheduled first comes first.
 */
import type { Selectable } from 'kysely';
import type { ScheduledEffect } from '../../core/author/thread-effect.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { causedBy } from '../budget/account.ts';
import type { EffectTable } from '../schema/tables.ts';
import { type CommandContext, inThread, refuseTerminated } from '../transaction/context.ts';
import { hasRow, selectRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { NewEffect } from './effect-record.ts';

export type EffectRow = Selectable<EffectTable>;

/**
 * Returns the milliseconds until the thread's next effect is due. Scheduling the same id again has no effect. Rejects
 * with `ThreadTerminated`, `ThreadNotFound`, `LimitExceeded`.
 */
export async function scheduleEffect(
  context: CommandContext,
  threadId: string,
  effect: NewEffect,
): Promise<number> {
  return inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    const now = await context.clock(thread.trx);
    if (!(await thread.has('effects', { id: effect.id }))) await insert(thread, effect, now);
    const next = await selectNext(pending(thread));
    return next ? untilDue(next.due_at, now) : 0;
  });
}

/**
 * The budgets of the execution that schedules the effect: what the effect's code queues spends from them. An effect that another
 * one schedules has that one's.
 */
async function toCause(thread: ThreadTransaction): Promise<string | null> {
  const { budget } = causedBy(thread);
  if (budget) return JSON.stringify(budget);
  const running = await thread.find('effects', { state: 'running' }, ['budget']);
  return running?.budget ?? null;
}

async function insert(
  thread: ThreadTransaction,
  { id, name, args, delayMs }: NewEffect,
  now: number,
): Promise<void> {
  if ((await thread.count('effects', { state: 'pending' })) >= LIMITS.effectsPerThread) {
    throw new RuntimeError(
      'LimitExceeded',
      `Thread "${thread.threadId}" has ${LIMITS.effectsPerThread} pending effects, which is the limit: "${name}" was not scheduled.`,
    );
  }
  const dueAt = await freeTime(thread, now + Math.ceil(delayMs * 1000));
  await thread.insert('effects', {
    id,
    name,
    args: JSON.stringify(args),
    due_at: dueAt,
    created_at: now,
    state: 'pending',
    attempts: 0,
    budget: await toCause(thread),
  });
  thread.emit('effect.scheduled', { id, name, dueAt });
}

/** F2: a clock may have a resolution of milliseconds, and a loop may schedule many effects in one. */
async function freeTime(thread: ThreadTransaction, dueAt: number): Promise<number> {
  const { last } = await pending(thread)
    .select((eb) => eb.fn.max('due_at').as('last'))
    .where('due_at', '>=', dueAt)
    .where('due_at', '<', dueAt + 1000)
    .executeTakeFirstOrThrow();
  return last === null ? dueAt : last + 1;
}

/** Pending effects, ordered by due time. */
export async function listEffects(
  { db }: CommandContext,
  threadId: string,
  name?: string,
): Promise<ScheduledEffect[]> {
  let query = selectRows(db, 'effects', { thread_id: threadId, state: 'pending' })
    .selectAll()
    .orderBy('due_at')
    .orderBy('id');
  if (name !== undefined) query = query.where('name', '=', name);
  return (await query.execute()).map(toScheduledEffect);
}

/**
 * Makes a pending effect due now, after those that are already due. False if it is not pending. Rejects with
 * `ThreadNotFound`.
 */
export async function expediteEffect(
  context: CommandContext,
  threadId: string,
  id: string,
): Promise<boolean> {
  return inThread(context, threadId, async (thread) => {
    const found = await thread.find('effects', { id });
    if (found?.state !== 'pending') return false;
    const now = await context.clock(thread.trx);
    if (found.due_at > now) await thread.update('effects', { id }, { due_at: await freeTime(thread, now) });
    return true;
  });
}

/** Cancels a pending effect. False if it is not pending. */
export async function removeEffect(context: CommandContext, threadId: string, id: string): Promise<boolean> {
  return inThread(context, threadId, async (thread) => {
    const found = await thread.find('effects', { id });
    if (found?.state !== 'pending') return false;
    await thread.update('effects', { id }, { state: 'cancelled', ended_at: thread.now });
    thread.emit('effect.cancelled', { id, name: found.name });
    return true;
  });
}

/**
 * Milliseconds until the next pending effect is due: 0 if it is overdue, null if none is pending. With `begun`, a
 * running effect counts as overdue: a new workflow run cannot know whether a worker still runs it.
 */
export async function nextEffect(
  { db, clock }: CommandContext,
  threadId: string,
  { begun = false }: { readonly begun?: boolean } = {},
): Promise<number | null> {
  if (begun && (await hasRow(db, 'effects', { thread_id: threadId, state: 'running' }))) return 0;
  const next = await selectNext(selectRows(db, 'effects', { thread_id: threadId, state: 'pending' }));
  return next ? untilDue(next.due_at, await clock(db)) : null;
}

/** The thread's pending effects. */
export function pending(thread: ThreadTransaction) {
  return thread.select('effects', { state: 'pending' });
}

/** The one that is due next. */
function selectNext(some: ReturnType<typeof pending>) {
  return some.select('due_at').orderBy('due_at').limit(1).executeTakeFirst();
}

/** Milliseconds until an effect is due, rounded up: a timer of that length must not end too early. */
function untilDue(dueAt: number, now: number): number {
  return Math.max(0, Math.ceil((dueAt - now) / 1000));
}

export function toScheduledEffect(row: EffectRow): ScheduledEffect {
  return {
    id: row.id,
    name: row.name,
    args: JSON.parse(row.args),
    scheduledAt: row.due_at,
    createdAt: row.created_at,
  };
}
