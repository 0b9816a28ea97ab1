/**
 * Notes of `memoryHook`: a part of the ThreadStore port that no author code can reach. Values of a thread are never shared
 * (runtime §14.1.3); notes are, between the threads of one user in one organisation. They are deleted with their thread.
 */
import type { MemoryNote } from '../../core/author/hook.ts';

export interface RecallNotes {
  /** `user`: notes of all threads of its user and organisation. A thread without a user has its own alone. */
  readonly within: 'user' | 'thread';
}

export interface MemoryStore {
  /**
   * Stores a note, in place of an earlier one of the same question in this thread; only the newest `most` of the thread are
   * kept. Idempotent. Rejects with `ThreadTerminated`, `ThreadNotFound`.
   */
  note(threadId: string, note: Omit<MemoryNote, 'own'>, most: number): Promise<void>;
  /** At most 1,000 notes, the newest first; those of this thread before those of others. */
  recall(threadId: string, options: RecallNotes): Promise<readonly MemoryNote[]>;
}
