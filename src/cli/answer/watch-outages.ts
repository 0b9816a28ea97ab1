/**
 * Reports why a thread that a command waits for makes no progress: its server or its worker does not answer. Reports
 * also when they are back. The wait continues in the meantime.
 * - Neither server nor worker is queried while the log grows.
 * - A worker is present if it answers a query. The list of pollers shows a lost worker for another minute.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { workflowIdOf } from '../../core/thread/start-options.ts';
import { isUnreachable } from '../../temporal-service/grpc-status.ts';
import { commandName } from '../command-name.ts';

export interface OutageWatch {
  readonly client: RuntimeClient;
  readonly threadId: string;
  /** Returns a number that changes whenever the thread makes progress. */
  readonly progress: () => number;
  readonly tell: (text: string) => void;
  readonly signal: AbortSignal;
  /** Milliseconds without progress before server and worker are queried. */
  readonly silenceMs: number;
}

type Outage = 'nobody' | 'worker' | 'server';

const QUERY_TIMEOUT_MS = 3000;
const QUERY_INTERVAL_MS = 1000;

/** Resolves after the signal; never rejects. */
export async function watchOutages(watch: OutageWatch): Promise<void> {
  const { progress, tell, signal, silenceMs } = watch;
  let [seen, since] = [progress(), performance.now()];
  let reported: Outage = 'nobody';
  while (!signal.aborted) {
    await delay(Math.min(silenceMs, QUERY_INTERVAL_MS), undefined, { signal }).catch(() => undefined);
    if (progress() !== seen) [seen, since] = [progress(), performance.now()];
    if (reported === 'nobody' && performance.now() - since < silenceMs) continue;
    const away = await findOutage(watch);
    since = performance.now();
    if (signal.aborted || away === reported) continue;
    tell(away === 'nobody' ? recoveryText(reported) : outageText(away, watch));
    reported = away;
  }
}

async function findOutage({ client: { temporal }, threadId }: OutageWatch): Promise<Outage> {
  try {
    await temporal.withDeadline(Date.now() + QUERY_TIMEOUT_MS, () =>
      temporal.connection.workflowService.getSystemInfo({}),
    );
  } catch (error) {
    return isUnreachable(error) ? 'server' : 'nobody';
  }
  try {
    const handle = temporal.workflow.getHandle(workflowIdOf(threadId));
    await temporal.withDeadline(Date.now() + QUERY_TIMEOUT_MS, () => handle.query('status'));
    return 'nobody';
  } catch (error) {
    return isUnanswered(error) ? 'worker' : 'nobody';
  }
}

/**
 * True for DEADLINE_EXCEEDED, and for FAILED_PRECONDITION: no worker has polled for long. Other errors say nothing
 * about workers.
 */
function isUnanswered(error: unknown): boolean {
  const { code, cause } = error as { readonly code?: number; readonly cause?: { readonly code?: number } };
  const status = cause?.code ?? code;
  return status === 4 || status === 9;
}

function outageText(away: Exclude<Outage, 'nobody'>, { client }: OutageWatch): string {
  if (away === 'server') {
    const { address } = (client.temporal.connection as Connection).options;
    return `The Temporal server at ${address} does not answer. Waiting for it; nothing is lost.`;
  }
  return `No worker answers on task queue "${client.taskQueue}". Waiting for one; "${commandName()} dev" starts one.`;
}

function recoveryText(away: Outage): string {
  return away === 'server' ? 'The Temporal server answers again.' : 'A worker is available.';
}
