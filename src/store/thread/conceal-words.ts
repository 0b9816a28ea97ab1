/**
 * Replaces the secrets of threads in the words that lists show (transaction/thread-words.ts): those that the store has
 * for the thread, its user and the instance, as they are at the time of reading. Costs one read, for a whole page.
 */
import { isRuntimeError } from '../../core/value/error.ts';
import { openVariable } from '../env/env.ts';
import { createRedactor, type Redact } from '../env/redaction.ts';
import type { CommandContext } from '../transaction/context.ts';
import { readInBatches } from '../transaction/rows.ts';
import type { ThreadRecord } from './thread-record.ts';

/** Shown instead of words whose secrets cannot be told from the rest. */
const WITHHELD = '[withheld: secrets cannot be read]';

export async function concealWords(
  context: CommandContext,
  threads: readonly ThreadRecord[],
): Promise<ThreadRecord[]> {
  const spoken = threads.filter(hasWords);
  const secrets = spoken.length === 0 ? [] : await readSecrets(context, spoken);
  if (secrets.length === 0) return [...threads];
  return threads.map((thread) => {
    if (!hasWords(thread)) return thread;
    const redact = toRedact(
      context,
      secrets.filter((secret) => isOf(thread, secret)),
    );
    const conceal = (words: string | null) => (words === null ? null : redact(words));
    return { ...thread, firstWords: conceal(thread.firstWords), lastWords: conceal(thread.lastWords) };
  });
}

function hasWords({ firstWords, lastWords }: ThreadRecord): boolean {
  return firstWords !== null || lastWords !== null;
}

type SecretRow = Awaited<ReturnType<typeof readSecrets>>[number];

async function readSecrets({ db }: CommandContext, threads: readonly ThreadRecord[]) {
  const users = threads.flatMap(({ userId }) => userId ?? []);
  const owners = [...new Set([...threads.map(({ id }) => id), ...users, ''])];
  return readInBatches(owners, (batch) =>
    db
      .selectFrom('env_values')
      .selectAll()
      .where('scope', 'in', ['thread', 'user', 'instance'])
      .where('owner', 'in', batch)
      .where('type', '=', 'secret')
      .execute(),
  );
}

function isOf({ id, userId }: ThreadRecord, { scope, owner }: SecretRow): boolean {
  if (scope === 'instance') return true;
  return owner === (scope === 'thread' ? id : userId);
}

function toRedact(context: CommandContext, secrets: readonly SecretRow[]): Redact {
  try {
    return createRedactor(secrets.map((row) => ({ name: row.name, value: openVariable(context, row) })));
  } catch (error) {
    if (!isRuntimeError(error, 'InvalidConfiguration')) throw error;
    return () => WITHHELD;
  }
}
