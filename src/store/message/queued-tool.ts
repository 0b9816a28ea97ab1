/** Stores a queued tool as history: a message of the acting side with the call, in the step that is about to open. */
import { roleOf } from '../../core/thread/session.ts';
import { QUEUED_TOOL, toQueuedCall } from '../schema/pending-payload.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { resolveAttachments } from './queued-attachments.ts';
import type { StoredMessagePayload } from './stored-message.ts';

/** A drained tool; it runs in the step that drained it. */
export interface DrainedTool {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  readonly origin: 'signal' | 'code';
  readonly unanswered: boolean;
}

export interface QueuedToolPayload {
  readonly name: string;
  readonly arguments: unknown;
  readonly origin?: 'code';
  readonly unanswered?: boolean;
}

export interface NewQueuedTool
  extends QueuedToolPayload,
    Partial<Pick<StoredMessagePayload, 'content' | 'silent' | 'metadata' | 'attachments'>> {
  readonly id: string;
  readonly executionId: string;
}

/** The message with the call, in the step that is about to open. */
export async function storeQueuedTool(
  thread: ThreadTransaction,
  { id, executionId, ...item }: NewQueuedTool,
): Promise<DrainedTool> {
  const call = toQueuedCall(id, item);
  const { attachments } = await resolveAttachments(thread, id, item.attachments);
  await thread.insertMessage({
    id,
    role: roleOf(thread.row.side),
    content: item.content ?? null,
    toolCalls: [call],
    silent: item.silent,
    metadata: { ...item.metadata, ...QUEUED_TOOL },
    attachments,
    executionId,
    step: thread.row.last_step + 1,
  });
  const { origin = 'signal', unanswered = false } = item;
  return { callId: call.id, ...call.function, origin, unanswered };
}
