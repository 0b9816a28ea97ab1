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
  return store.executions.cancel({ threadId, ...request });
}
