/**
 * The id of a step's answer, known before there is one: whoever streams an answer can name the message that it becomes.
 * I1. No item that is sent has an id of this shape (thread/item.ts), so an answer finds its id free.
 */
import { sha256OfAscii } from '../value/sha256.ts';

/** The same for every attempt of the step. */
export function answerIdOf(threadId: string, step: number): string {
  return `answer-${sha256OfAscii(`${threadId} ${step}`).slice(0, 40)}`;
}

export function isAnswerId(id: string): boolean {
  return /^answer-[0-9a-f]{40}$/.test(id);
}
