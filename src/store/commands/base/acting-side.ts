/**
 * Which side acts in the step that begins (definitions §12.3, §22.40); the messages that it drains may still change that.
 * A1. The workflow evaluates steps, so the session stands where it says. The store is believed where it is ahead: after a reset
 *     or a killed run, and of a step that was begun and had no answer.
 * A2. A message that has been taken and not answered has decided already.
 */
import { NEW_SESSION, type Session } from '../../../core/thread/session.ts';
import type { BeginStep } from '../../port/step.ts';
import type { ThreadRow, ThreadTransaction } from './thread-transaction.ts';

/** A1: the last step of the thread's own has no answer. */
export async function hasUnanswered({ trx, threadId }: ThreadTransaction): Promise<boolean> {
  const last = await trx
    .selectFrom('steps')
    .select('state')
    .where('thread_id', '=', threadId)
    .where('kind', '!=', 'prompt')
    .orderBy('step', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last !== undefined && last.state !== 'committed';
}

export function beginSession(
  row: Pick<ThreadRow, 'side' | 'turns' | 'answer_due'>,
  { twoSides, session }: Pick<BeginStep, 'twoSides' | 'session'>,
  { behind }: { readonly behind: boolean },
): Session {
  if (!twoSides && !session) return NEW_SESSION;
  if (!session || behind) return { side: row.side, turns: row.turns };
  // A2: who answers is decided; how many turns there were is not.
  return row.answer_due === 1 ? { ...session, side: row.side } : session;
}

/** Where the session stands is part of the thread's row. */
export function setSession(thread: ThreadTransaction, { side, turns }: Session): void {
  if (side !== thread.row.side || turns !== thread.row.turns) thread.set({ side, turns });
}
