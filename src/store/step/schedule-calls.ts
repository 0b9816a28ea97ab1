/** Stores a step's tool calls as scheduled, in their order, and logs them (runtime §5.1). */

import type { CallRepair } from '../../core/answer/clean-calls.ts';
import { inBatches } from '../transaction/batches.ts';
import { insertRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';

export interface ScheduledCall {
  readonly callId: string;
  readonly name: string;
  /** The caller's JSON text, unparsed. */
  readonly arguments: string;
  readonly origin: 'model' | 'signal' | 'code';
  /** Repairs that were made before the call was scheduled. */
  readonly repairs?: readonly CallRepair[];
}

export async function scheduleCalls(
  thread: ThreadTransaction,
  step: number,
  calls: readonly ScheduledCall[],
  /** The depth of the step's messages. */
  depth = 0,
): Promise<void> {
  if (calls.length === 0) return;
  const rows = calls.map((call, idx) => ({
    thread_id: thread.threadId,
    step,
    idx,
    call_id: call.callId,
    name: call.name,
    arguments: call.arguments,
    origin: call.origin,
    state: 'scheduled' as const,
    waits: 0,
  }));
  for (const batch of inBatches(rows)) await insertRows(thread.trx, 'tool_calls', batch);
  for (const { name, callId, origin, repairs = [] } of calls) {
    const data = {
      name,
      callId,
      queued: origin !== 'model' || undefined,
      repaired: repairs.length > 0 ? repairs : undefined,
      depth: depth || undefined,
    };
    thread.emit('tool.called', data, { step });
  }
}
