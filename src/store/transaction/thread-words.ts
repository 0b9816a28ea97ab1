/**
 * The beginnings of a thread's first and of its newest message, for lists: columns of its row, kept by the transactions
 * that write messages.
 * - Only shown messages of depth 0 with text count. The first words are a user's; the last are also a model's.
 * - A changed or deleted message leaves no copy of its text: both are read again (message/message.ts).
 * - A cut text ends with `…`, so that a secret which the cut has divided is recognised (core/redaction/redactor.ts).
 */
import type { Message } from '../../core/message/message.ts';
import type { ThreadTable } from '../thread/thread-record.ts';

const MAX_CHARS = 120;
/** Characters of a message that are read: a list shows no spaces in sequence. */
export const READ_CHARS = 1000;

type Words = Partial<Pick<ThreadTable, 'first_words' | 'last_words'>>;

/** The columns that a new message changes. */
export function wordsAfter(
  { first_words: first }: Pick<ThreadTable, 'first_words'>,
  { role, depth, silent, content }: Pick<Message, 'role' | 'depth' | 'silent' | 'content'>,
): Words {
  if (depth > 0 || silent || (role !== 'user' && role !== 'assistant')) return {};
  const words = toWords(content);
  if (words === null) return {};
  return { last_words: words, ...(role === 'user' && first === null ? { first_words: words } : {}) };
}

/** Null for a text without words. */
export function toWords(text: string | null): string | null {
  const words = (text ?? '').slice(0, READ_CHARS).replace(/\s+/g, ' ').trim();
  if (words.length <= MAX_CHARS) return words || null;
  // A surrogate without its other half is no text to a database.
  return `${words.slice(0, MAX_CHARS - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
