/** Checks a client's requests to cancel, and applies them to executions that have not begun. */
import type { Canceling, CancelRequest } from '../core/governance/cancellation.ts';
import { contextOf, type GivenContext, withCancellation } from '../core/governance/run-context.ts';
import { RuntimeError } from '../core/value/error.ts';
import { isStorable } from '../core/value/storable-text.ts';
import type { ExecutionRecord } from '../store/execution/execution-record.ts';
import type { ThreadRecord } from '../store/thread/thread-record.ts';
import type { StartMessage } from './outgoing.ts';

const MAX_CHARS: Readonly<Record<keyof CancelRequest, number>> = { executionId: 200, reason: 500, by: 200 };

/** Throws `InvalidValue` naming the invalid field. */
export function checkCancelRequest(request: CancelRequest): CancelRequest {
  const checked: Record<string, string> = {};
  for (const [name, most] of Object.entries(MAX_CHARS)) {
    const value: unknown = request[name as keyof CancelRequest];
    if (value === undefined) continue;
    if (typeof value !== 'string' || value.length === 0 || value.length > most || !isStorable(value))
      throw new RuntimeError(
        'InvalidValue',
        `The "${name}" of a cancellation must be a string of 1 to ${most} characters.`,
      );
    checked[name] = value;
  }
  return checked;
}

/**
 * Copies the cancellation of a start context to the first messages, including those that are stored before the thread
 * starts.
 */
export function cancelWith({
  canceled,
  cancelReason,
}: GivenContext = {}): (message: StartMessage) => StartMessage {
  return (message) =>
    canceled ? { ...message, context: { canceled, cancelReason, ...message.context } } : message;
}

/**
 * Returns the record of a cancelled execution that has not begun, as it will begin; its start time is that of the
 * request.
 */
export function toPendingRecord(
  { id: threadId, rootId, agent }: ThreadRecord,
  { executionId: id, cancellation }: Canceling,
): ExecutionRecord {
  const context = withCancellation(contextOf({}, { executionId: id, rootId, agent }), cancellation);
  const ahead = { state: 'working', startedAt: cancellation.at, endedAt: null, stopReason: null } as const;
  return {
    id,
    threadId,
    agent,
    ...ahead,
    firstSeq: null,
    context,
    contextGiven: false,
    canceled: cancellation,
  };
}
