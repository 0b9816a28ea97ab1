/**
 * Deletes what the Temporal server has of a workflow: the histories of all of its runs.
 * - Runs are found by visibility and by the chain of their first events: visibility lags behind, and the chain does
 *   not lead to runs before a revival.
 * - The oldest is deleted first: after a kill, the chain still leads from the newest run to those that are left.
 * - It ends once no run answers: the server deletes after it has acknowledged the request, and a run may have
 *   continued as new in the meantime. Runs that the server refuses to delete are returned.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { RuntimeError } from '../core/value/error.ts';
import { isRequestRefused, isWorkflowGone, toRuntimeError } from './workflow-error.ts';

/** The history of a run that the server does not delete on request. */
export interface RemainingHistory {
  readonly workflowId: string;
  readonly runId: string;
  /** When the namespace's retention deletes it, in milliseconds since 1970; null while the run has not ended. */
  readonly until: number | null;
}

interface Run {
  readonly workflowId: string;
  readonly runId: string;
  readonly startTime: Date;
  readonly closeTime?: Date;
}

const POLL_MS = 50;
/** A server without the settings of temporal/dynamic-config.yaml takes up to half a minute. */
const WITHIN_MS = 120_000;

type Asked = 'deletes' | 'refuses';

/** Returns what remains. Throws `Timeout` if the server has acknowledged a deletion and does not carry it out. */
export async function deleteHistories(
  temporal: Client,
  workflowIds: readonly string[],
): Promise<readonly RemainingHistory[]> {
  const deadline = Date.now() + WITHIN_MS;
  const asked = new Map<string, Asked>();
  const refused: Run[] = [];
  let left = workflowIds;
  try {
    while (left.length > 0) {
      const next: string[] = [];
      for (const workflowId of left) {
        const runs = await findRuns(temporal, workflowId);
        if (await refusesAll(temporal, runs, asked)) refused.push(...runs);
        else next.push(workflowId);
      }
      left = next;
      if (left.length > 0 && Date.now() > deadline) throw notDeleted(left);
      if (left.length > 0) await delay(POLL_MS);
    }
    return await describeRemaining(temporal, refused);
  } catch (error) {
    throw toRuntimeError(error);
  }
}

/** Asks for the deletion of each run once. True if none is being deleted. */
async function refusesAll(
  temporal: Client,
  runs: readonly Run[],
  asked: Map<string, Asked>,
): Promise<boolean> {
  for (const run of runs) if (!asked.has(run.runId)) asked.set(run.runId, await deleteRun(temporal, run));
  return runs.every(({ runId }) => asked.get(runId) === 'refuses');
}

/** The runs that still answer; H2: the oldest first. */
async function findRuns(temporal: Client, workflowId: string): Promise<readonly Run[]> {
  const found = new Map<string, Run>();
  const seen = new Set<string | undefined>();
  // Without an id, the newest run answers.
  const next: (string | undefined)[] = [undefined];
  for await (const { runId } of temporal.workflow.list({ query: `WorkflowId = '${workflowId}'` }))
    next.push(runId);
  while (next.length > 0) {
    const id = next.pop();
    if (seen.has(id)) continue;
    seen.add(id);
    const run = await describeRun(temporal, workflowId, id);
    if (!run || found.has(run.runId)) continue;
    found.set(run.runId, run);
    next.push(...(await readChain(temporal, workflowId, run.runId)));
  }
  return [...found.values()].toSorted((a, b) => a.startTime.getTime() - b.startTime.getTime());
}

/** Null if there is no such run. */
async function describeRun(temporal: Client, workflowId: string, runId?: string): Promise<Run | null> {
  try {
    return await temporal.workflow.getHandle(workflowId, runId).describe();
  } catch (error) {
    if (isWorkflowGone(error)) return null;
    throw error;
  }
}

/** The runs that the first event of a run names. */
async function readChain(temporal: Client, workflowId: string, runId: string): Promise<readonly string[]> {
  try {
    const { history } = await temporal.workflowService.getWorkflowExecutionHistory({
      namespace: temporal.options.namespace,
      execution: { workflowId, runId },
      maximumPageSize: 1,
    });
    const { continuedExecutionRunId, originalExecutionRunId, firstExecutionRunId } =
      history?.events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
    return [continuedExecutionRunId, originalExecutionRunId, firstExecutionRunId].filter(isNamed);
  } catch (error) {
    if (isWorkflowGone(error)) return [];
    throw error;
  }
}

function isNamed(runId: string | null | undefined): runId is string {
  return runId != null && runId !== '';
}

/** A run that is still open is ended by that. */
async function deleteRun(temporal: Client, { workflowId, runId }: Run): Promise<Asked> {
  try {
    await temporal.workflowService.deleteWorkflowExecution({
      namespace: temporal.options.namespace,
      workflowExecution: { workflowId, runId },
    });
    return 'deletes';
  } catch (error) {
    if (isWorkflowGone(error)) return 'deletes';
    if (isRequestRefused(error)) return 'refuses';
    throw error;
  }
}

async function describeRemaining(
  { workflowService, options: { namespace } }: Client,
  runs: readonly Run[],
): Promise<readonly RemainingHistory[]> {
  if (runs.length === 0) return [];
  const { config } = await workflowService.describeNamespace({ namespace });
  const retentionMs = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) * 1000;
  return runs.map(({ workflowId, runId, closeTime }) => ({
    workflowId,
    runId,
    until: closeTime ? closeTime.getTime() + retentionMs : null,
  }));
}

function notDeleted(workflowIds: readonly string[]): RuntimeError {
  const [first, ...others] = workflowIds;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  return new RuntimeError(
    'Timeout',
    `The Temporal server has not deleted the histories of the workflow "${first}"${more} within ${WITHIN_MS / 1000} s. Delete the thread again to continue.`,
  );
}
