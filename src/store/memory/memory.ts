/**
 * Notes of memory hooks. The natural key is (thread, digest of the question).
 * - Notes are bounded for each thread, and for each recall.
 */
import { hash } from 'node:crypto';
import type { MemoryNote } from '../../core/author/hook.ts';
import { type CommandContext, inThread, refuseTerminated } from '../transaction/context.ts';
import { findRow } from '../transaction/rows.ts';

/** Notes that one recall reads. */
const RECALLED = 1000;

/**
 * Stores a note, in place of an earlier one of the same question in this thread; only the newest `most` of the thread are
 * kept. Idempotent. Rejects with `ThreadTerminated`, `ThreadNotFound`.
 */
export async function noteMemory(
  context: CommandContext,
  threadId: string,
  { asked, answered }: Omit<MemoryNote, 'own'>,
  most: number,
): Promise<void> {
  await inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    const { trx, row } = thread;
    const digest = hash('sha256', asked).slice(0, 32);
    const stamp = thread.stamp();
    await trx
      .insertInto('memory_notes')
      .values({
        thread_id: threadId,
        digest,
        asked,
        answered,
        noted_at: stamp,
        organization_id: row.organization_id,
        user_id: row.user_id,
      })
      .onConflict((conflict) =>
        conflict.columns(['thread_id', 'digest']).doUpdateSet({ answered, noted_at: stamp }),
      )
      .execute();
    const newest = thread.select('memory_notes').select('digest').orderBy('noted_at', 'desc').limit(most);
    await trx
      .deleteFrom('memory_notes')
      .where('thread_id', '=', threadId)
      .where('digest', 'not in', newest)
      .execute();
  });
}

/** At most 1,000 notes, the newest first; those of this thread before those of others. */
export async function recallMemory(
  { db }: CommandContext,
  threadId: string,
  { within }: RecallNotes,
): Promise<readonly MemoryNote[]> {
  const notes = db.selectFrom('memory_notes').select(['asked', 'answered']).orderBy('noted_at', 'desc');
  const own = await notes.where('thread_id', '=', threadId).limit(RECALLED).execute();
  const found = own.map((note) => ({ ...note, own: true }));
  const thread = await findRow(db, 'threads', { id: threadId }, ['user_id', 'organization_id']);
  if (within === 'thread' || thread?.user_id == null || found.length === RECALLED) return found;
  const others = await notes
    .where('user_id', '=', thread.user_id)
    .where('organization_id', thread.organization_id === null ? 'is' : '=', thread.organization_id)
    .where('thread_id', '<>', threadId)
    .limit(RECALLED - found.length)
    .execute();
  return [...found, ...others.map((note) => ({ ...note, own: false }))];
}

/** Notes of memory hooks. */
interface RecallNotes {
  /** `user`: notes of all threads of its user and organisation. A thread without a user has its own alone. */
  readonly within: 'user' | 'thread';
}
