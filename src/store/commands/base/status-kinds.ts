/**
 * `status_kind` of log entries (runtime §12): an author sets it in the metadata of the message that an entry is about.
 */
import type { Transaction } from 'kysely';
import type { Log } from '../../../core/author/thread-log.ts';
import type { Tables } from '../../schema/tables.ts';
import { readInBatches } from './batches.ts';

/** The log entry of a model call, or of a tool call. */
export interface StepLog extends Log {
  readonly data: Readonly<Record<string, unknown>> & { readonly step: number };
}

export async function markStatusKinds(
  db: Transaction<Tables>,
  threadId: string,
  entries: readonly StepLog[],
): Promise<readonly Log[]> {
  const steps = [...new Set(entries.map(({ data }) => data.step))];
  const rows = await readInBatches(steps, (batch) =>
    db
      .selectFrom('messages')
      .select(['step', 'role', 'tool_call_id', 'metadata'])
      .where('thread_id', '=', threadId)
      .where('step', 'in', batch)
      // Makes the index by execution usable.
      .where('execution_id', 'in', (query) =>
        query
          .selectFrom('steps')
          .select('execution_id')
          .where('thread_id', '=', threadId)
          .where('step', 'in', batch),
      )
      .where('metadata', 'like', '%"status_kind"%')
      .execute(),
  );
  const kinds = new Map<string, string>();
  for (const { step, role, tool_call_id: callId, metadata } of rows) {
    const { status_kind: kind } = JSON.parse(metadata) as { status_kind?: unknown };
    if (typeof kind === 'string') kinds.set(placeOf(step, role === 'tool' ? callId : null), kind);
  }
  return entries.map((entry) => {
    const { step, callId = null } = entry.data;
    const kind = kinds.get(placeOf(step, callId as string | null));
    return kind === undefined ? entry : { ...entry, metadata: { status_kind: kind } };
  });
}

/** `callId` is null for the answer of the step itself. */
const placeOf = (step: number | null, callId: string | null): string => `${step} ${callId ?? ''}`;
