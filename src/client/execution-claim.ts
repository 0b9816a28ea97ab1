/** Execution ids chosen by clients: checked and claimed before anything is sent, so that the sender sees a conflict. */
import { isExecutionId } from '../core/thread/execution-id.ts';
import { RuntimeError } from '../core/value/error.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { ClaimExecution } from '../store/message/message-record.ts';
import type { ThreadStore } from '../store/store.ts';

/** Throws `InvalidMessage`. */
export function checkExecutionId(executionId: unknown): void {
  if (executionId === undefined || isExecutionId(executionId)) return;
  throw new RuntimeError(
    'InvalidMessage',
    `The id of an execution must be 1 to ${LIMITS.executionIdChars} visible ASCII characters.`,
  );
}

/**
 * Returns the id of the item that begins the execution: the given one, or that of an item with the same content that
 * was sent before. Throws `ExecutionConflict`.
 */
export async function claimExecution(store: ThreadStore, claim: ClaimExecution): Promise<string> {
  const { item } = claim;
  if (item.executionId === undefined) return item.id;
  const claimed = await store.queue.claim(claim);
  if (claimed.kind === 'claimed') return claimed.itemId;
  throw new RuntimeError(
    'ExecutionConflict',
    `The execution "${item.executionId}" was begun by another item, in thread "${claimed.threadId}": give this one a different id.`,
  );
}
