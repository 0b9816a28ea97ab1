/**
 * The id of a step's answer, known before the answer exists: code that streams an answer can name the message that it
 * becomes.
 * - No queued item may have an id of this shape (thread/item.ts), so the id of an answer is always free.
 */
import { sha256OfAscii } from '../value/sha256.ts';

/** Returns the same id for every attempt of the step. */
export function answerIdOf(threadId: string, step: number): string {
  return `answer-${sha256OfAscii(`${threadId} ${step}`).slice(0, 40)}`;
}

export function isAnswerId(id: string): boolean {
  return /^answer-[0-9a-f]{40}$/.test(id);
}
