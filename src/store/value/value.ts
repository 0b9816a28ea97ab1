/**
 * The key-value store of a thread (runtime §14). The natural key is (thread, key): the last value written counts, and
 * writing the same one twice is one write. Values are not encrypted, unlike those of env.
 */
import { RuntimeError } from '../../core/value/error.ts';
import { toJsonText } from '../../core/value/json-value.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { isStorable } from '../../core/value/storable-text.ts';
import { type CommandContext, inThread, refuseTerminated } from '../transaction/context.ts';
import { findRow } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { ListValues, StoredValue } from './value-record.ts';

const DEFAULT_LIMIT = 100;

/** The value; null if it was never set or was deleted, or if there is no such thread. */
export async function getValue({ db }: CommandContext, threadId: string, key: string): Promise<unknown> {
  // A text that cannot be stored was never a key, and an engine might confuse it with another one.
  if (typeof key !== 'string' || !isStorable(key)) return null;
  const row = await findRow(db, 'thread_values', { thread_id: threadId, key }, ['value']);
  return row ? JSON.parse(row.value) : null;
}

/**
 * Stores a value, durably once the promise resolves; null and undefined delete the key. Idempotent.
 * Throws `InvalidValue`, which names the place, `LimitExceeded`, which names the limit, `ThreadTerminated`,
 * `ThreadNotFound`.
 */
export async function setValue(
  context: CommandContext,
  threadId: string,
  key: string,
  value: unknown,
): Promise<void> {
  requireKey(key);
  const deletes = value === null || value === undefined;
  const text = deletes ? null : toJsonText(value, { name: 'value', maxBytes: LIMITS.valueBytes });
  await inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    // As JSON text; null if there is none.
    const before = (await thread.find('thread_values', { key }, ['value']))?.value ?? null;
    // Setting the same value again is not a change.
    if (before === text) return;
    if (text === null) await thread.delete('thread_values', { key });
    else if (before === null) await insert(thread, key, text);
    else await thread.update('thread_values', { key }, { value: text, updated_at: thread.now });
    thread.emit('value.changed', { key });
  });
}

function requireKey(key: string): void {
  if (typeof key !== 'string') throw new RuntimeError('InvalidValue', 'The key of a value must be a string.');
  if (key.length > LIMITS.valueKeyChars) {
    throw new RuntimeError(
      'LimitExceeded',
      `The key "${key.slice(0, 40)}…" has ${key.length} characters; the limit is ${LIMITS.valueKeyChars}.`,
    );
  }
  if (isStorable(key)) return;
  throw new RuntimeError(
    'InvalidValue',
    `The key ${JSON.stringify(key)} has a character that cannot be stored (NUL, a lone surrogate, a noncharacter).`,
  );
}

async function insert(thread: ThreadTransaction, key: string, value: string): Promise<void> {
  if ((await thread.count('thread_values')) >= LIMITS.valuesPerThread) {
    throw new RuntimeError(
      'LimitExceeded',
      `Thread "${thread.threadId}" has ${LIMITS.valuesPerThread} keys, which is the limit; delete some (setValue(key, null)), or keep the data in files.`,
    );
  }
  await thread.insert('thread_values', { key, value, updated_at: thread.now });
}

/** Values ordered by key, starting after `after`. */
export async function listValues(
  { db }: CommandContext,
  threadId: string,
  { after, limit = DEFAULT_LIMIT }: ListValues = {},
): Promise<StoredValue[]> {
  let query = db
    .selectFrom('thread_values')
    .select(['key', 'value', 'updated_at'])
    .where('thread_id', '=', threadId)
    .orderBy('key')
    .limit(Number.isSafeInteger(limit) && limit >= 0 ? limit : DEFAULT_LIMIT);
  if (after !== undefined) query = query.where('key', '>', after);
  return (await query.execute()).map((row) => ({
    key: row.key,
    value: JSON.parse(row.value),
    updatedAt: row.updated_at,
  }));
}
