/**
 * Effects that are due (definitions §10): pending → running → done | failed; or cancelled with their thread.
 * G1. An effect begins only when it is due, in the order in which effects fall due.
 * G2. A thread runs one effect at a time. One that is found running was a lost worker's and runs again: at most
 *     ATTEMPTS times, unless the caller counts the losses itself (`mayLose`).
 * G3. An ended effect is kept for KEPT_DAYS, and longer if no other effect ends after it.
 */
import { countPending, enqueueTools } from '../message/queue.ts';
import { toThreadRecord } from '../schema/rows.ts';
import { type CommandContext, inRun, inThread } from '../transaction/context.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { type EffectRow, pending, toScheduledEffect } from './effect.ts';
import type { BeginEffect, BegunEffect, EffectFault, EndEffect, EndedEffect } from './effect-record.ts';

const ATTEMPTS = 3;
const KEPT_DAYS = 30;

/**
 * Begins the effect that is due first, as a new attempt. An effect found running belonged to a lost worker and comes
 * first, so the same command given twice returns the same effect.
 */
export async function beginEffect(context: CommandContext, command: BeginEffect): Promise<BegunEffect> {
  return inRun(context, command, async (thread): Promise<BegunEffect> => {
    const { mayLose = ATTEMPTS } = command;
    // G2: at most one.
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

/** G1: the next effect that is due. */
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
    if (!ended && found.state !== 'running') return { kind: 'late' };
    if (!ended) {
      await close(thread, found, error);
      // An effect is not part of an execution: what it queues comes from outside, like its messages.
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

/** G3: deletes effects that ended long ago. The condition on `due_at` makes the index usable. */
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
