/**
 * Removes requests that are kept for a number of days. What later requests of the chain need stays: ids of messages and
 * digests, no text. A repeated command finds nothing more.
 */
import { type CommandContext, inThread } from '../transaction/context.ts';
import { readInBatches, updateRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { noteRemoval } from './keep-request.ts';
import type { ChainPart, RequestPart } from './request-chain.ts';
import { parse } from './request-row.ts';

const MAX_THREADS = 100;
const DAY_US = 86_400_000_000;

/**
 * Goes through threads in the order of their ids, a bounded number per call. Returns the id behind which the next call
 * goes on; null after the last thread, or if requests are kept as long as their threads.
 */
export async function removeRequests(context: CommandContext, after: string): Promise<string | null> {
  const { requestDays, db } = context;
  if (requestDays === 0 || requestDays === Number.POSITIVE_INFINITY) return null;
  const before = (await context.clock(db)) - requestDays * DAY_US;
  const threads = await db
    .selectFrom('threads')
    .select('id')
    .where('id', '>', after)
    .where('requests', 'is not', null)
    .orderBy('id')
    .limit(MAX_THREADS)
    .execute();
  for (const { id } of threads)
    if (await hasOld(context, id, before)) await inThread(context, id, (thread) => removeOld(thread, before));
  return threads.length < MAX_THREADS ? null : (threads.at(-1)?.id ?? null);
}

async function hasOld({ db }: CommandContext, threadId: string, before: number): Promise<boolean> {
  const old = await db
    .selectFrom('model_calls')
    .select('step')
    .where('thread_id', '=', threadId)
    .where('request', 'is not', null)
    .where('started_at', '<', before)
    .limit(1)
    .executeTakeFirst();
  return old !== undefined;
}

async function removeOld(thread: ThreadTransaction, before: number): Promise<void> {
  const { trx, threadId } = thread;
  thread.relax();
  await trx
    .updateTable('model_calls')
    .set({ request: null })
    .where('thread_id', '=', threadId)
    .where('request', 'is not', null)
    .where('started_at', '<', before)
    .execute();
  const used = await findUsed(thread);
  const texts = await thread.select('request_texts').select('digest').execute();
  const unused = texts.map(({ digest }) => digest).filter((digest) => !used.has(digest));
  await readInBatches(unused, (batch) =>
    trx
      .deleteFrom('request_texts')
      .where('thread_id', '=', threadId)
      .where('digest', 'in', [...batch])
      .returning('digest')
      .execute(),
  );
  // Not a change of the thread: it keeps its place in the lists.
  await updateRows(trx, 'threads', { id: threadId }, { requests: noteRemoval(thread.row) });
}

/** Digests of the texts that kept requests name. */
async function findUsed(thread: ThreadTransaction): Promise<ReadonlySet<string>> {
  const rows = await thread.select('model_calls').select(['chain', 'request']).execute();
  const used = new Set<string>();
  const first = new Map<string, number>();
  const parts = rows.flatMap(({ chain, request }) =>
    chain === null ? [] : [{ chain: JSON.parse(chain) as ChainPart, request: parse<RequestPart>(request) }],
  );
  for (const { chain, request } of parts) {
    if (!request) continue;
    for (const [, digest, , , like] of request.own)
      for (const each of like ? [like[0], like[3]] : [digest]) used.add(each);
    for (const part of [request.tools, request.options]) if (part) used.add(part[0]);
    const least = Math.min(first.get(chain.chain) ?? Number.MAX_SAFE_INTEGER, ...evenOf(request.runs));
    first.set(chain.chain, least);
  }
  for (const { chain } of parts)
    for (const [position, , digest] of chain.add)
      if (position >= (first.get(chain.chain) ?? Number.MAX_SAFE_INTEGER)) used.add(digest);
  return used;
}

const evenOf = (runs: readonly number[]) => runs.filter((_, index) => index % 2 === 0);
