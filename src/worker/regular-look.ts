/**
 * What every worker does from time to time, whatever its threads do: it tells them of waits that were forgotten, closes actions of code
 * that nobody is at any more (store/commands/action/lost-action.ts), ends what a lost process produced, or was to do
 * (store/commands/producer/lost-producer.ts), cancels tasks of agents elsewhere that nobody wants, and removes streamed text whose time is over. Several
 * workers may do it at once.
 */

import { endLostTasks } from '../client/adapter-presence.ts';
import { cancelUnwanted } from '../state/cancel-a2a.ts';
import type { StateDependencies } from '../state/dependencies.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import { tellForgotten, tellUnseen, type WaitLook } from './wait-look.ts';

const EVERY_MS = 30_000;
/** How long readers may come back to what was streamed in an execution, from its end on. */
const CHUNKS_KEPT_MS = 10 * 60_000;
/** Calls of the store in one look: each removes a bounded number of rows. */
const MOST_REMOVALS = 50;

type Look = WaitLook & Pick<StateDependencies, 'registry'>;

/** Until the signal fires. What fails is tried at the next look. */
export function lookRegularly(look: Look, stop: AbortSignal): void {
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    const { store } = look;
    const waits = [tellForgotten(look, EVERY_MS), tellUnseen(look, EVERY_MS)];
    const ends = [store.actions.closeLost(), endLostTasks(store, look.client), cancelUnwanted(look, stop)];
    const looks = [...waits, ...ends, removeStreamed(store)];
    void Promise.allSettled(looks).finally(() => {
      busy = false;
    });
  }, EVERY_MS).unref();
  stop.addEventListener('abort', () => clearInterval(timer), { once: true });
}

async function removeStreamed(store: ThreadStore): Promise<void> {
  for (let n = 0; n < MOST_REMOVALS; n++) if ((await store.events.removeChunks(CHUNKS_KEPT_MS)) === 0) return;
}
