/**
 * Maintenance that every worker does every 30 seconds, whatever its threads do. It repeats lost signals about waits,
 * closes actions whose process was lost (store/action/code-action.ts), ends executions and tasks whose
 * producer was lost (store/producer/producer.ts), cancels tasks of agents elsewhere that are no longer
 * wanted, gives out spans that lost workers left (telemetry/telemetry.ts), and removes streamed text and requests to models that have been kept long enough. Several workers may do it at the same time.
 */

import type { Client } from '@temporalio/client';
import { cancelUnwantedTasks } from '../author/remote/cancel-a2a.ts';
import type { StateDependencies } from '../author/state/dependencies.ts';
import { endLostTasks } from '../client/adapter-presence.ts';
import { revival, workflowTypeOf } from '../core/thread/start-options.ts';
import type { ThreadStore } from '../store/store.ts';
import { answerWait, wakeForMessages } from '../workflows/messages.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

const INTERVAL_MS = 30_000;
/** How long the streamed text of an execution stays readable after its end. */
const CHUNKS_KEPT_MS = 10 * 60_000;
/** Maximum number of store calls in one round: each removes a bounded number of rows. */
const MAX_REMOVALS = 50;

type MaintenancePorts = WaitSignalPorts &
  Pick<StateDependencies, 'registry'> & { readonly telemetry?: Pick<Telemetry, 'catchUp'> | undefined };

/** Runs until `stop` aborts. Work that fails is retried in the next round. */
export function startMaintenance(look: MaintenancePorts, stop: AbortSignal): void {
  let busy = false;
  let cleaned = '';
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    const { store } = look;
    const waits = [signalForgotten(look, INTERVAL_MS), signalUnseen(look, INTERVAL_MS)];
    const ends = [
      store.actions.closeLost(),
      endLostTasks(store, look.client),
      cancelUnwantedTasks(look, stop),
    ];
    const requests = store.modelCalls.removeRequests(cleaned).then((last) => {
      cleaned = last ?? '';
    });
    const spans = look.telemetry?.catchUp(INTERVAL_MS);
    const looks = [...waits, ...ends, removeStreamed(store), requests, spans];
    void Promise.allSettled(looks).finally(() => {
      busy = false;
    });
  }, INTERVAL_MS).unref();
  stop.addEventListener('abort', () => clearInterval(timer), { once: true });
}

async function removeStreamed(store: ThreadStore): Promise<void> {
  for (let n = 0; n < MAX_REMOVALS; n++) if ((await store.events.removeChunks(CHUNKS_KEPT_MS)) === 0) return;
}

interface WaitSignalPorts {
  readonly store: ThreadStore;
  readonly client: Client;
  readonly taskQueue: string;
}

/**
 * Part of a worker's periodic maintenance: repeats signals about waits that threads have not
 * received. Either a wait is over, and the process that stored the answer was lost before it signalled, or the
 * workflow was killed before its timer fired; or a descendant began or ended a wait, and its worker was lost before it
 * signalled the ancestors. An unnecessary signal is harmless. Signals threads whose wait ended this long ago and whose
 * call has not gone on. Returns how many were signalled.
 */
export async function signalForgotten(look: WaitSignalPorts, olderThanMs: number): Promise<number> {
  let sent = 0;
  for (const { id, threadId } of await look.store.waits.listForgotten(olderThanMs))
    if (await signalThread(look, threadId, answerWait, { id })) sent += 1;
  return sent;
}

/** Signals ancestors that show other waits than their workflows have read. Returns how many were signalled. */
export async function signalUnseen(look: WaitSignalPorts, olderThanMs: number): Promise<number> {
  let sent = 0;
  for (const { threadId, childId } of await look.store.waits.listUnread(olderThanMs))
    if (await signalThread(look, threadId, wakeForMessages, { waitOf: childId })) sent += 1;
  return sent;
}

/** Signals a thread; starts its workflow if that was killed. False if the thread does not exist or is terminated. */
async function signalThread(
  { store, client, taskQueue }: WaitSignalPorts,
  threadId: string,
  { name: signal }: { readonly name: string },
  payload: object,
): Promise<boolean> {
  const thread = await store.threads.get(threadId);
  if (thread?.terminatedAt !== null) return false;
  await client.workflow.signalWithStart(workflowTypeOf(threadId), {
    ...revival(thread),
    taskQueue,
    signal,
    signalArgs: [payload],
  });
  return true;
}
