/**
 * Reports why a thread that a command waits for makes no progress: its server or its worker does not answer. Reports
 * also when they are back. The wait continues in the meantime.
 * W1. Neither server nor worker is queried while the log grows.
 * W2. A worker is present if it answers a query. The list of pollers shows a lost worker for another minute.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { workflowIdOf } from '../../core/thread/start-options.ts';
import { isUnreachable } from '../../temporal-service/grpc-status.ts';
import { commandName } from '../command-name.ts';

export interface AwayWatch {
  readonly client: RuntimeClient;
  readonly threadId: string;
  /** Returns a number that changes whenever the thread makes progress. */
  readonly progress: () => number;
  readonly tell: (text: string) => void;
  readonly signal: AbortSignal;
  /** Milliseconds without progress before server and worker are queried. */
  readonly silenceMs: number;
}

type Away = 'nobody' | 'worker' | 'server';

const ASK_WITHIN_MS = 3000;
const ASK_AGAIN_MS = 1000;

/** Resolves after the signal; never rejects. */
export async function watchAway(watch: AwayWatch): Promise<void> {
  const { progress, tell, signal, silenceMs } = watch;
  let [seen, since] = [progress(), performance.now()];
  let told: Away = 'nobody';
  while (!signal.aborted) {
    await delay(Math.min(silenceMs, ASK_AGAIN_MS), undefined, { signal }).catch(() => undefined);
    // W1: the log grows.
    if (progress() !== seen) [seen, since] = [progress(), performance.now()];
    if (told === 'nobody' && performance.now() - since < silenceMs) continue;
    const away = await findAway(watch);
    since = performance.now();
    if (signal.aborted || away === told) continue;
    tell(away === 'nobody' ? backText(told) : awayText(away, watch));
    told = away;
  }
}

async function findAway({ client: { temporal }, threadId }: AwayWatch): Promise<Away> {
  try {
    await temporal.withDeadline(Date.now() + ASK_WITHIN_MS, () =>
      temporal.connection.workflowService.getSystemInfo({}),
    );
  } catch (error) {
    return isUnreachable(error) ? 'server' : 'nobody';
  }
  try {
    // W2: a worker answers.
    const handle = temporal.workflow.getHandle(workflowIdOf(threadId));
    await temporal.withDeadline(Date.now() + ASK_WITHIN_MS, () => handle.query('status'));
    return 'nobody';
  } catch (error) {
    return isNoAnswer(error) ? 'worker' : 'nobody';
  }
}

/**
 * True for DEADLINE_EXCEEDED, and for FAILED_PRECONDITION: no worker has polled for long. Other errors say nothing
 * about workers.
 */
function isNoAnswer(error: unknown): boolean {
  const { code, cause } = error as { readonly code?: number; readonly cause?: { readonly code?: number } };
  const status = cause?.code ?? code;
  return status === 4 || status === 9;
}

function awayText(away: Exclude<Away, 'nobody'>, { client }: AwayWatch): string {
  if (away === 'server') {
    const { address } = (client.temporal.connection as Connection).options;
    return `The Temporal server at ${address} does not answer. Waiting for it; nothing is lost.`;
  }
  return `No worker answers on task queue "${client.taskQueue}". Waiting for one; "${commandName()} dev" starts one.`;
}

function backText(away: Away): string {
  return away === 'server' ? 'The Temporal server answers again.' : 'A worker is there.';
}
