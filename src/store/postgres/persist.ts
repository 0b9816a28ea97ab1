/**
 * Gives a store's commands again where that helps. All are safe to give twice, because natural keys guard them; only
 * streamed text has no key, and a chunk whose fate is unknown is let go (port.ts, P1).
 * R1. A serialization failure or a deadlock has changed nothing: again, at once, a bounded number of times.
 * R2. A lost connection: again on another one for PATIENCE_MS, which is what a restart of PostgreSQL takes. After that
 *     `StoreUnavailable`, and Temporal tries the activity for as long as it takes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ThreadStore } from '../port/thread-store.ts';
import { explainServer, isConflict, isLost, unavailable } from './error.ts';

const CONFLICTS = 8;
const PATIENCE_MS = 15_000;

type Method = (...values: unknown[]) => Promise<unknown>;

/** `store`, persistent; `close` ends every patience. */
export function persist(store: ThreadStore): ThreadStore {
  let closed = false;
  const again = async (name: string, command: () => Promise<unknown>): Promise<unknown> => {
    const deadline = performance.now() + PATIENCE_MS;
    for (let attempt = 1; ; attempt++) {
      try {
        return await command();
      } catch (error) {
        if (isLost(error)) {
          if (closed || name === 'appendChunk' || performance.now() > deadline)
            throw unavailable(store.place, error);
        } else if (!isConflict(error) || attempt >= CONFLICTS) throw explainServer(error, store.place);
        const longest = isLost(error) ? 1000 : 100;
        await delay(Math.min(10 * 2 ** attempt, longest) * (0.5 + Math.random()));
      }
    }
  };
  const entries = Object.entries(store).map(([name, member]) => {
    if (typeof member !== 'function') return [name, member] as const;
    const method = member as Method;
    return [name, (...values: unknown[]) => again(name, () => method(...values))] as const;
  });
  const close = () => {
    closed = true;
    return store.close();
  };
  return { ...(Object.fromEntries(entries) as unknown as ThreadStore), close };
}
