/**
 * `cancelExecution`: stores a cancel request that came by signal or update; the store also decides whether there is
 * anything to cancel.
 */
import type { CancelVerdict } from '../../core/governance/cancellation.ts';
import type { CancelExecutionInput } from '../../core/thread/step.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { fromRun } from '../base/run-ref.ts';

export async function cancelExecution(
  { store }: ActivityDependencies,
  input: CancelExecutionInput,
): Promise<CancelVerdict> {
  // Throws `StoreMismatch` if this worker uses another store.
  fromRun(store, input);
  const { threadId, request } = input;
  const verdict = await store.executions.cancel({ threadId, ...request });
  if (verdict.kind !== 'canceling' || request.reason !== undefined || request.by !== undefined)
    return verdict;
  // Our client stores the reason, and signals only the execution's id.
  return { ...verdict, cancellation: { ...verdict.cancellation, reason: null, by: null } };
}
