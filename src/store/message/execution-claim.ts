/**
 * Ids that senders have given to executions (core/thread/execution-id.ts).
 * - An id is claimed once for its owner: the organisation of the item's context, else the user of its thread, else
 *   the store. The same content again is the same item; any other is a conflict.
 */
import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { QueueItem } from '../../core/thread/item.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import type { Tables } from '../schema/tables.ts';
import type { CommandContext } from '../transaction/context.ts';
import { readRow } from '../transaction/rows.ts';
import { givenContext } from '../transaction/run-context.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { ClaimExecution, ClaimedExecution, ExecutionClaim } from './message-record.ts';

/** Claims the id of the execution that an item begins, before the item is sent. Idempotent for the same item. */
export async function claimExecution(
  context: CommandContext,
  command: ClaimExecution,
): Promise<ClaimedExecution> {
  return claim(context.db, command, context.now());
}

/** It is unlikely that more owners have chosen the same id. */
const MAX_CLAIMS = 100;

/** Claims of this execution id, newest first. Each owner may have one. */
export async function findClaims(
  { db }: CommandContext,
  executionId: string,
): Promise<readonly ExecutionClaim[]> {
  const rows = await db
    .selectFrom('execution_claims')
    .select(['thread_id', 'item_id'])
    .where('execution_id', '=', executionId)
    .orderBy('created_at', 'desc')
    .limit(MAX_CLAIMS)
    .execute();
  return rows.map(({ thread_id: threadId, item_id: itemId }) => ({ threadId, itemId }));
}

/** C1, for an item that came by a plain signal. */
export function claimItem(
  { trx, threadId, row, now }: ThreadTransaction,
  item: QueueItem,
): Promise<ClaimedExecution> {
  return claim(trx, { threadId, userId: row.user_id, item }, now);
}

async function claim(
  db: Kysely<Tables>,
  { threadId, userId, item }: ClaimExecution,
  now: number,
): Promise<ClaimedExecution> {
  const { executionId } = item;
  if (executionId === undefined) return { kind: 'claimed', itemId: item.id };
  const owner = ownerOf(item, userId);
  const digest = digestOf(threadId, item);
  await db
    .insertInto('execution_claims')
    .values({
      owner,
      execution_id: executionId,
      thread_id: threadId,
      item_id: item.id,
      digest,
      created_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const held = await readRow(db, 'execution_claims', { owner, execution_id: executionId });
  if (held.digest !== digest) return { kind: 'conflict', threadId: held.thread_id };
  return { kind: 'claimed', itemId: held.item_id };
}

function ownerOf(item: QueueItem, userId: string | null): string {
  const organization = item.kind === 'stored' ? undefined : givenContext(item)?.organizationId;
  if (organization !== undefined) return `organization:${organization}`;
  return userId === null ? 'store' : `user:${userId}`;
}

/**
 * Hash of the item's content, whatever the order of its fields, and of its thread; without the item's own id, and
 * without the names of its run and its trace, which senders draw anew for each attempt. A cancellation is no content.
 */
function digestOf(threadId: string, { id: _, ...content }: QueueItem): string {
  const context = content.kind === 'stored' ? {} : (content.context ?? {});
  const { runId: _run, traceId: _trace, traceparent: _span, traceLinks: _links, ...rest } = context;
  const { canceled: _canceled, cancelReason: _reason, ...same } = rest;
  const told = { context: Object.keys(same).length > 0 && same };
  return createHash('sha256')
    .update(canonicalJson(withoutFalse({ threadId, ...content, ...told })))
    .digest('hex');
}

/** Removes fields that are false: they mean the same as absent ones. */
function withoutFalse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFalse);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, member]) => member !== false);
  return Object.fromEntries(fields.map(([name, member]) => [name, withoutFalse(member)]));
}
