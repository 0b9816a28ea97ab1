/** Values, files and variables of a fork, and what its source has changed of them since the point. */
import { sql } from 'kysely';
import { parentOf } from '../../core/file/file-path.ts';
import type { AttachmentRef } from '../../core/message/message.ts';
import type { ChangedSince } from '../../core/thread/forked.ts';
import { definedFields } from '../../core/value/record.ts';
import { openVariable, putVariable } from '../env/env.ts';
import { addNames } from '../file/blob.ts';
import { FILE_COLUMNS } from '../file/file-tree.ts';
import { listed, WRITES, writtenNames } from '../message/superseded-tail.ts';
import { readEvent } from '../schema/rows.ts';
import { type CommandContext, unknownThread } from '../transaction/context.ts';
import { readInBatches, selectRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { ForkPoint } from './fork-point.ts';

/** Copies values, files and variables. Returns the names of secrets that are not copied. */
export async function copyState(
  context: CommandContext,
  source: ThreadTransaction,
  fork: ThreadTransaction,
): Promise<readonly string[]> {
  const own = sql<string>`cast(${fork.threadId} as text)`.as('thread_id');
  const { trx } = source;
  await trx
    .insertInto('thread_values')
    .columns(['thread_id', 'key', 'value', 'updated_at'])
    .expression(source.select('thread_values').select(own).select(['key', 'value', 'updated_at']))
    .execute();
  await trx
    .insertInto('thread_files')
    .columns(['thread_id', ...COPIED])
    .expression(source.select('thread_files').select(own).select(COPIED))
    .execute();
  return copyVariables(context, source, fork);
}

/** Copies the files that copied messages name, and their folders, unless they have been written since. */
export async function copyAttached(source: ThreadTransaction, fork: ThreadTransaction, { next }: ForkPoint) {
  const rows = await fork
    .select('messages')
    .select('attachments')
    .where('attachments', 'is not', null)
    .execute();
  const files = rows.flatMap(
    ({ attachments }) => JSON.parse(attachments ?? '[]') as readonly AttachmentRef[],
  );
  const paths = new Set(files.map(({ path }) => path));
  for (const path of paths) if (path !== '/') paths.add(parentOf(path));
  const copied = await readInBatches([...paths], (batch) =>
    source
      .select('thread_files', { path: batch })
      .selectAll()
      .where((eb) => eb.or([eb('kind', '!=', 'file'), eb('updated_at', '<', next?.opened_at ?? 0)]))
      .execute(),
  );
  for (const { thread_id: _, ...row } of copied) await fork.insert('thread_files', row);
}

const COPIED = [...FILE_COLUMNS, 'parent', 'thumbnail'] as const;

/** Each content has one more name for each copied file. */
export async function nameContents(
  { storeId }: CommandContext,
  { threadId }: ThreadTransaction,
  fork: ThreadTransaction,
): Promise<void> {
  const files = await fork
    .select('thread_files')
    .select((eb) => ['blob_id as id', eb.fn.countAll<number>().as('names')])
    .where('blob_id', 'is not', null)
    .groupBy('blob_id')
    .orderBy('blob_id')
    .execute();
  for (const { id, names } of files) {
    const linked = await addNames(fork.trx, id, Number(names));
    // A deletion of the source removes files without its lock.
    if (!linked) throw unknownThread(storeId, threadId);
  }
}

async function copyVariables(
  context: CommandContext,
  source: ThreadTransaction,
  fork: ThreadTransaction,
): Promise<readonly string[]> {
  const place = { scope: 'thread', owner: source.threadId } as const;
  const rows = await selectRows(source.trx, 'env_values', place).selectAll().orderBy('name').execute();
  const isSameOwner = fork.row.user_id === source.row.user_id;
  const withheld: string[] = [];
  for (const row of rows) {
    const { name, type, withheld: scoped } = row;
    if (type === 'secret' && !isSameOwner) withheld.push(name);
    else {
      const to = { scope: 'thread', owner: fork.threadId, name, type, withheld: scoped } as const;
      await putVariable(context, fork.trx, to, openVariable(context, row));
    }
  }
  return withheld;
}

/** What is not as it was at the point; the first 100 of each kind. */
export async function readChanged(
  source: ThreadTransaction,
  { next, seq = 0 }: ForkPoint,
): Promise<ChangedSince> {
  const written = await source
    .select('events')
    .selectAll()
    .where('seq', '>', seq)
    .where('type', 'in', WRITES)
    .orderBy('seq')
    .execute();
  const variables = await selectRows(source.trx, 'env_values', { scope: 'thread', owner: source.threadId })
    .select('name')
    .where('updated_at', '>=', next?.opened_at ?? 0)
    .orderBy('name')
    .execute();
  return definedFields({
    ...writtenNames(written.map(readEvent)),
    variables: listed(variables.map(({ name }) => name)),
  });
}
