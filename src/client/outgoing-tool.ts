/** Checks a tool call before a client queues it, so that no call is acknowledged that the thread would refuse. */
import { randomUUID } from 'node:crypto';
import { itemIdOf } from '../core/thread/execution-id.ts';
import { isItemId, isToolName, type ToolItem } from '../core/thread/item.ts';
import { RuntimeError } from '../core/value/error.ts';
import { toJsonObject } from '../core/value/json-value.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { ThreadStore } from '../store/store.ts';
import type { ToolPayload } from '../workflows/messages.ts';
import { checkExecutionId, claimExecution } from './execution-claim.ts';
import type { Destination, StoredMessage } from './outgoing.ts';
import { toContext } from './outgoing-context.ts';

/**
 * Stores the call. Returns the payload of the signal `queueMessage` that queues it. Throws `InvalidMessage` for the id or the name, `ItemConflict` for an id with another call, `InvalidValue` for arguments that JSON would
 * change, `LimitExceeded` above 4 MiB; nothing has been sent then.
 */
export async function prepareTool(
  store: ThreadStore,
  { threadId, userId }: Pick<Destination, 'threadId' | 'userId'>,
  {
    executionId,
    id = executionId === undefined ? randomUUID() : itemIdOf(executionId),
    name,
    arguments: given = {},
    unanswered = false,
    context: run,
  }: ToolPayload,
): Promise<StoredMessage> {
  checkExecutionId(executionId);
  if (!isItemId(id)) throw invalid(`A call's id must be 1 to ${LIMITS.idChars} visible ASCII characters.`);
  if (!isToolName(name)) throw invalid('A call needs the "name" of a tool, with at most 128 characters.');
  if (typeof unanswered !== 'boolean') throw invalid('"unanswered" must be true or false.');
  const args = toJsonObject(given, { name: `arguments of "${name}"`, maxBytes: LIMITS.contentBytes });
  const context = toContext(run, 'InvalidMessage');
  const named = executionId === undefined ? {} : { executionId };
  const said = { ...(unanswered ? { unanswered } : {}), ...context, ...named };
  const item: ToolItem = { kind: 'tool', id, name, arguments: args, ...said };
  const claimedId = await claimExecution(store, { threadId, userId, item });
  await store.queue.stage(threadId, { ...item, id: claimedId });
  // The payload only refers to the stored row, which says that it is a tool call. The role `assistant` does not wake a
  // stopped thread.
  return { id: claimedId, role: 'assistant', stored: true, ...named };
}

function invalid(message: string): RuntimeError {
  return new RuntimeError('InvalidMessage', message);
}
