/**
 * Effects (definitions §10): scheduled, listed and removed while they are pending; then pending → running → done |
 * failed; or cancelled with their thread.
 * - Due times come from the clock that all processes of the store share: a delay is a minimum, whichever processes
 *   schedule the effect and check for it.
 * - No two effects of a thread are due in the same microsecond: the one scheduled first comes first.
 * - An effect begins only when it is due, in the order in which effects fall due.
 * - A thread runs one effect at a time. One that is found running was a lost worker's and runs again: at most
 *   ATTEMPTS times, unless the caller counts the losses itself (`mayLose`).
 * - An ended effect is kept for KEPT_DAYS, and longer if no other effect ends after it.
 */
import type { Selectable } from 'kysely';
import type { ScheduledEffect } from '../../core/author/thread-effect.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { causedBy } from '../budget/account.ts';
import { countPending, enqueueTools } from '../message/queue.ts';
import { toThreadRecord } from '../schema/rows.ts';
import type { EffectTable } from '../schema/tables.ts';
import { type CommandContext, inRun, inThread, refuseTerminated } from '../transaction/context.ts';
import { hasRow, selectRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type {
  BeginEffect,
  BegunEffect,
  EffectFault,
  EndEffect,
  EndedEffect,
  NewEffect,
} from './effect-record.ts';

type EffectRow = Selectable<EffectTable>;

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

/** A clock may have a resolution of milliseconds, and a loop may schedule many effects in one. */
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
function pending(thread: ThreadTransaction) {
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

function toScheduledEffect(row: EffectRow): ScheduledEffect {
  return {
    id: row.id,
    name: row.name,
    args: JSON.parse(row.args),
    scheduledAt: row.due_at,
    createdAt: row.created_at,
  };
}

const ATTEMPTS = 3;
const KEPT_DAYS = 30;

/**
 * Begins the effect that is due first, as a new attempt. An effect found running belonged to a lost worker and comes
 * first, so the same command given twice returns the same effect.
 */
export async function beginEffect(context: CommandContext, command: BeginEffect): Promise<BegunEffect> {
  return inRun(context, command, async (thread): Promise<BegunEffect> => {
    const { mayLose = ATTEMPTS } = command;
    const lost = await thread.find('effects', { state: 'running' });
    if (lost && lost.attempts >= mayLose) await giveUp(thread, lost);
    const again = lost && lost.attempts < mayLose ? lost : undefined;
    const next = again ?? (await findDue(context, thread));
    if (!next) return { kind: 'none', waiting: await countPending(thread) };
    const attempt = next.attempts + 1;
    await thread.update(
      'effects',
      { id: next.id },
      { state: 'running', attempts: attempt, started_at: thread.now },
    );
    thread.emit('effect.started', { id: next.id, name: next.name, attempt });
    return {
      kind: 'run',
      effect: toScheduledEffect(next),
      attempt,
      thread: toThreadRecord(thread.row),
    };
  });
}

/** The next effect that is due. */
async function findDue(context: CommandContext, thread: ThreadTransaction): Promise<EffectRow | undefined> {
  return pending(thread)
    .selectAll()
    .where('due_at', '<=', await context.clock(thread.trx))
    .orderBy('due_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

async function giveUp(thread: ThreadTransaction, effect: EffectRow): Promise<void> {
  const message = `Its worker was lost ${effect.attempts} times while it ran; it is not retried.`;
  await close(thread, effect, { code: 'EffectLost', message });
}

/** Settles the effect once; the same end again returns the same result. */
export async function endEffect(context: CommandContext, command: EndEffect): Promise<EndedEffect> {
  return inThread(context, command.threadId, async (thread): Promise<EndedEffect> => {
    if (thread.row.terminated_at !== null) return { kind: 'terminated' };
    const found = await thread.find('effects', { id: command.id });
    const { attempt, error, queuedTools } = command;
    if (found?.attempts !== attempt) return { kind: 'late' };
    // A repeated end, as after a lost answer, returns the same.
    const ended = found.state === 'done' || found.state === 'failed';
    if (!ended && found.state !== 'running' && found.state !== 'cancelled') return { kind: 'late' };
    if (!ended) {
      await close(thread, found, error);
      // One that was superseded while it ran is logged, and queues nothing.
      // An effect is not part of an execution: what it queues comes from outside, like its messages.
      if (found.state === 'running')
        await enqueueTools(thread, queuedTools, { own: false, effect: found.id });
      await forgetOld(thread);
    }
    return { kind: 'stored', waiting: await countPending(thread) };
  });
}

async function close(
  thread: ThreadTransaction,
  { id, name }: EffectRow,
  { stack, ...error }: Partial<EffectFault> = {},
): Promise<void> {
  const failed = error.code !== undefined;
  await thread.update(
    'effects',
    { id },
    {
      state: failed ? 'failed' : 'done',
      error: failed ? JSON.stringify(error) : null,
      ended_at: thread.now,
    },
  );
  const failure = failed ? { error, stack } : {};
  thread.emit(failed ? 'effect.failed' : 'effect.done', { id, name, ...failure });
}

/** Deletes effects that ended long ago. The condition on `due_at` makes the index usable. */
async function forgetOld(thread: ThreadTransaction): Promise<void> {
  const before = thread.now - KEPT_DAYS * 24 * 60 * 60 * 1_000_000;
  await thread.trx
    .deleteFrom('effects')
    .where('thread_id', '=', thread.threadId)
    .where('state', 'in', ['done', 'failed', 'cancelled'])
    .where('due_at', '<', before)
    .where('ended_at', '<', before)
    .execute();
}

/** Cancels the effects of a thread that ends. */
export async function cancelEffects(thread: ThreadTransaction): Promise<void> {
  const changes = { state: 'cancelled', ended_at: thread.now } as const;
  await thread.update('effects', { state: ['pending', 'running'] }, changes);
}
