/**
 * Maintenance that every worker does every 30 seconds, whatever its threads do. It repeats lost signals about waits,
 * closes actions whose process was lost (store/action/lost-action.ts), ends executions and tasks whose
 * producer was lost (store/producer/lost-producer.ts), cancels tasks of agents elsewhere that are no longer
 * wanted, and removes streamed text that has been kept long enough. Several workers may do it at the same time.
 */

import { endLostTasks } from '../client/adapter-presence.ts';
import { cancelUnwantedTasks } from '../state/cancel-a2a.ts';
import type { StateDependencies } from '../state/dependencies.ts';
import type { ThreadStore } from '../store/store.ts';
import { signalForgotten, signalUnseen, type WaitSignalPorts } from './wait-signals.ts';

const INTERVAL_MS = 30_000;
/** How long the streamed text of an execution stays readable after its end. */
const CHUNKS_KEPT_MS = 10 * 60_000;
/** Maximum number of store calls in one round: each removes a bounded number of rows. */
const MAX_REMOVALS = 50;

type MaintenancePorts = WaitSignalPorts & Pick<StateDependencies, 'registry'>;

/** Runs until `stop` aborts. Work that fails is retried in the next round. */
export function startMaintenance(look: MaintenancePorts, stop: AbortSignal): void {
  let busy = false;
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
    const looks = [...waits, ...ends, removeStreamed(store)];
    void Promise.allSettled(looks).finally(() => {
      busy = false;
    });
  }, INTERVAL_MS).unref();
  stop.addEventListener('abort', () => clearInterval(timer), { once: true });
}

async function removeStreamed(store: ThreadStore): Promise<void> {
  for (let n = 0; n < MAX_REMOVALS; n++) if ((await store.events.removeChunks(CHUNKS_KEPT_MS)) === 0) return;
}
