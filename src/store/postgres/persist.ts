/**
 * Gives a store's commands again where that helps. All are safe to give twice, because natural keys guard them; only
 * streamed text has no key, and a chunk whose fate is unknown is let go (port, P1).
 * R1. A serialization failure or a deadlock has changed nothing: again, at once, a bounded number of times.
 * R2. A lost connection: again on another one for PATIENCE_MS, which is what a restart of PostgreSQL takes. After that
 *     `StoreUnavailable`, and Temporal tries the activity for as long as it takes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Runner, RunOptions } from '../commands/base/runner.ts';
import { explainServer, isConflict, isLost, unavailable } from './error.ts';

const CONFLICTS = 8;
const PATIENCE_MS = 15_000;

export class Persistence {
  readonly #place: string;
  #closed = false;

  /** `place`: the store's, for messages. */
  constructor(place: string) {
    this.#place = place;
  }

  readonly run: Runner = async (command, options = {}) => {
    const deadline = performance.now() + PATIENCE_MS;
    for (let attempt = 1; ; attempt++) {
      try {
        return await command();
      } catch (error) {
        this.#refuseFinal(error, { ...options, attempt, deadline });
        const longest = isLost(error) ? 1000 : 100;
        await delay(Math.min(10 * 2 ** attempt, longest) * (0.5 + Math.random()));
      }
    }
  };

  /** Throws what another attempt would not mend. */
  #refuseFinal(error: unknown, { once, attempt, deadline }: Tried): void {
    if (isLost(error)) {
      if (this.#closed || once || performance.now() > deadline) throw unavailable(this.#place, error);
    } else if (!isConflict(error) || attempt >= CONFLICTS) throw explainServer(error, this.#place);
  }

  /** The store is closed: nothing that was lost is tried again. */
  close(): void {
    this.#closed = true;
  }
}

interface Tried extends RunOptions {
  readonly attempt: number;
  readonly deadline: number;
}
