/**
 * Replaces the secrets of threads in the words that lists show (transaction/thread-words.ts): those that the store has
 * for the thread, its user and the instance, as they are at the time of reading. Costs one read, for a whole page.
 */
import { tryToOpen } from '../env/env.ts';
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
    const redact = toRedact(secrets.filter((secret) => isOf(thread, secret)));
    const conceal = (words: string | null) => (words === null ? null : redact(words));
    return { ...thread, firstWords: conceal(thread.firstWords), lastWords: conceal(thread.lastWords) };
  });
}

function hasWords({ firstWords, lastWords }: ThreadRecord): boolean {
  return firstWords !== null || lastWords !== null;
}

interface Secret {
  readonly scope: 'thread' | 'user' | 'instance';
  readonly owner: string;
  readonly name: string;
  /** Absent if its key is missing. */
  readonly value?: string;
}

async function readSecrets(context: CommandContext, threads: readonly ThreadRecord[]): Promise<Secret[]> {
  const users = threads.flatMap(({ userId }) => userId ?? []);
  const owners = [...new Set([...threads.map(({ id }) => id), ...users, ''])];
  const rows = await readInBatches(owners, (batch) =>
    context.db
      .selectFrom('env_values')
      .selectAll()
      .where('scope', 'in', ['thread', 'user', 'instance'])
      .where('owner', 'in', batch)
      .where('type', '=', 'secret')
      .execute(),
  );
  return rows.map((row) => ({
    scope: row.scope,
    owner: row.owner,
    name: row.name,
    ...tryToOpen(context, row),
  }));
}

function isOf({ id, userId }: ThreadRecord, { scope, owner }: Secret): boolean {
  if (scope === 'instance') return true;
  return owner === (scope === 'thread' ? id : userId);
}

function toRedact(secrets: readonly Secret[]): Redact {
  const known = secrets.flatMap(({ name, value }) => (value === undefined ? [] : [{ name, value }]));
  return known.length < secrets.length ? () => WITHHELD : createRedactor(known);
}
