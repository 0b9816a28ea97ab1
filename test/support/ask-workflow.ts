/** Queries of workflows, repeated as long as they are refused. */
import type { WorkflowHandle } from '@temporalio/client';
import { type StatusView, status } from '../../src/workflows/messages.ts';
import { eventually } from './eventually.ts';

/**
 * Answers once the workflow does: a busy worker refuses a query that overtakes the task of a signal
 * (docs/sdk-queries.md), and one that waits for its turn for too long fails.
 */
export async function askWorkflow<T extends object>(handle: WorkflowHandle, query: string): Promise<T> {
  return eventually(`an answer to the query ${query}`, () => handle.query<T>(query).catch(() => undefined));
}

export const askStatus = (handle: WorkflowHandle): Promise<StatusView> => askWorkflow(handle, status.name);
