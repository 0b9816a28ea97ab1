/**
 * Decides which side acts in the step that begins (definitions §12.3, §22.40); the messages that it drains may still
 * change that.
 * A1. The workflow evaluates steps, so its session is the current one. The store's is used if the store is ahead: after
 *     a reset or a killed run, or if the last step has begun and has no answer.
 * A2. If a drained message is still unanswered, the side that answers it is already decided.
 */
import { NEW_SESSION, type Session } from '../../core/thread/session.ts';
import type { BeginStep } from '../step/step-record.ts';
import type { ThreadRow, ThreadTransaction } from './thread-transaction.ts';

/** A1: true if the last step, sub-prompts' steps aside, has no answer. */
export async function hasUnanswered(thread: ThreadTransaction): Promise<boolean> {
  const last = await thread
    .select('steps')
    .select('state')
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
  // A2: the side that answers is decided; the number of turns is not.
  return row.answer_due === 1 ? { ...session, side: row.side } : session;
}

/** Stores the session in the thread's row, if it has changed. */
export function setSession(thread: ThreadTransaction, { side, turns }: Session): void {
  if (side !== thread.row.side || turns !== thread.row.turns) thread.set({ side, turns });
}
