/**
 * Keeps the request of a model call in the call's own row, in the transaction that writes the call's end
 * (step/stream.ts). Only texts that no request of the thread had before are another statement.
 * - The thread's row names the newest call of each chain. If this process wrote that call, it knows the chain; else it
 *   reads the part of the chain that the call's request shows, so it reads no more than the step itself has read.
 * - Nothing is shared between threads.
 * - Changing or deleting a stored message removes what requests have of its text: a chain has none (request-chain.ts),
 *   and texts that show the message, or may quote it, are emptied. Later requests store what they send again.
 */
import { type CommandContext, inRun } from '../transaction/context.ts';
import type { StepRef } from '../transaction/from-run.ts';
import { inBatches } from '../transaction/rows.ts';
import type { ThreadRow, ThreadTransaction } from '../transaction/thread-transaction.ts';
import { type KnownChain, knownChains } from './known-chains.ts';
import {
  type ChainPart,
  type ChainState,
  extendChain,
  forgetTexts,
  type NamedText,
  newChain,
  restoreChain,
} from './request-chain.ts';
import type { GapReason, SentRequest } from './request-record.ts';
import { type CallPlace, idOfCall, openRows } from './request-row.ts';

/** The newest call of each chain, and how many removals of texts came before it. */
interface Heads {
  readonly removals: number;
  readonly chains: Readonly<Record<string, readonly [at: string, removals: number]>>;
}

/** Chains that a thread's row names; the earliest is forgotten first, and begins anew. */
const MAX_CHAINS = 16;

/** The columns of the call's row; none if requests are not kept. */
export interface RequestColumns {
  readonly chain?: string;
  readonly request?: string;
}

export async function keepRequest(
  { requestDays, db }: Pick<CommandContext, 'requestDays' | 'db'>,
  thread: ThreadTransaction,
  place: CallPlace,
  sent: SentRequest | undefined,
): Promise<RequestColumns> {
  if (!sent || requestDays === 0) return {};
  const { chain } = sent;
  const { threadId } = thread;
  const known = knownChains(db);
  const heads = headsOf(thread.row);
  const { [chain]: head, ...others } = heads.chains;
  const continued = head && (await openChain(thread, head[0], known.find(threadId, chain)));
  const state = continued ?? newChain();
  if (head?.[1] !== heads.removals) forgetTexts(state);
  const { add, next, request, texts } = extendChain(state, sent);
  await saveTexts(thread, texts);
  const at = idOfCall(place);
  const newest = [...Object.entries(others).slice(1 - MAX_CHAINS), [chain, [at, heads.removals]] as const];
  thread.set({ requests: JSON.stringify({ ...heads, chains: Object.fromEntries(newest) }) });
  known.keep(threadId, chain, { at, state }, request.bytes);
  const part: ChainPart = { chain, ...(head && continued ? { base: head[0] } : {}), next, add };
  return { chain: JSON.stringify(part), request: JSON.stringify(request) };
}

function headsOf({ requests }: Pick<ThreadRow, 'requests'>): Heads {
  return requests === null ? { removals: 0, chains: {} } : JSON.parse(requests);
}

/** Undefined if the request of its newest call is no longer kept: the chain begins anew. */
async function openChain(
  { trx, threadId }: ThreadTransaction,
  id: string,
  known: KnownChain | undefined,
): Promise<ChainState | undefined> {
  if (known?.at === id) return known.state;
  const rows = openRows(trx, threadId);
  const row = await rows.read(id);
  if (!row?.chain || !row.request) return undefined;
  return restoreChain(row.chain.next, (await rows.entriesOf(id, row.request.runs)).values(), row.request);
}

async function saveTexts(thread: ThreadTransaction, texts: readonly NamedText[]): Promise<void> {
  // Not earlier than any message, whichever clock has stamped that.
  const now = Math.max(thread.now, thread.row.clock);
  const rows = texts.map(({ digest, body, messageId, quotes }) => ({
    thread_id: thread.threadId,
    digest,
    body,
    message_id: messageId,
    quotes: Number(quotes),
    created_at: now,
    gap: null,
  }));
  for (const batch of inBatches(rows))
    await thread.trx
      .insertInto('request_texts')
      .values([...batch])
      .onConflict((taken) =>
        taken.columns(['thread_id', 'digest']).doUpdateSet((eb) => ({
          body: eb.ref('excluded.body'),
          message_id: eb.ref('excluded.message_id'),
          quotes: eb.ref('excluded.quotes'),
          created_at: eb.ref('excluded.created_at'),
          gap: null,
        })),
      )
      .execute();
}

/** Keeps the request of a call that its worker has given up, before it ends: the step was stopped, or the worker leaves. */
export async function keepAborted(
  context: CommandContext,
  { call, sent, ...ref }: StepRef & { readonly call: number; readonly sent: SentRequest },
): Promise<void> {
  await inRun(context, ref, async (thread) => {
    thread.relax();
    const { step, attempt } = ref;
    const known = await thread.find('model_calls', { step, attempt, call }, ['chain']);
    if (!known || known.chain !== null) return;
    const columns = await keepRequest(context, thread, { step, attempt, call }, sent);
    await thread.update('model_calls', { step, attempt, call }, columns);
  });
}

/** Must be called in the transaction that changes or deletes the message. */
export async function forgetMessage(
  thread: ThreadTransaction,
  { id, created_at: at }: { readonly id: string; readonly created_at: number },
  gap: GapReason,
): Promise<void> {
  // A thread without kept requests needs no query.
  if (thread.row.requests === null) return;
  await thread.trx
    .updateTable('request_texts')
    .set({ body: null, gap })
    .where('thread_id', '=', thread.threadId)
    .where('body', 'is not', null)
    .where((eb) =>
      eb.or([eb('message_id', '=', id), eb.and([eb('quotes', '=', 1), eb('created_at', '>=', at)])]),
    )
    .execute();
  thread.set({ requests: noteRemoval(thread.row) });
}

/** Texts were removed: no process may take them for stored. */
export function noteRemoval(row: Pick<ThreadRow, 'requests'>): string {
  const heads = headsOf(row);
  return JSON.stringify({ ...heads, removals: heads.removals + 1 });
}
