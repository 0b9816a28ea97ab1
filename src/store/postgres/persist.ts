/**
 * Retries a store's commands if that can help. All may be given twice, because natural keys guard them. Only streamed
 * text has no key: a chunk of which it is unknown whether it was stored is given up (store.ts, P1).
 * R1. A serialization failure or a deadlock has changed nothing: the command is retried after a short pause, with
 *     MAX_ATTEMPTS attempts in all.
 * R2. After a lost connection the command is retried on another one for MAX_RETRY_MS, which is what a restart of
 *     PostgreSQL takes. After that it rejects with `StoreUnavailable`, and Temporal retries the activity for as long as
 *     it takes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Runner, RunOptions } from '../transaction/runner.ts';
import { explainServer, isConflict, isConnectionLost, unavailable } from './error.ts';

const MAX_ATTEMPTS = 8;
const MAX_RETRY_MS = 15_000;

export class Persistence {
  readonly #place: string;
  #closed = false;

  /** `place`: location of the store, for error messages. */
  constructor(place: string) {
    this.#place = place;
  }

  readonly run: Runner = async (command, options = {}) => {
    const deadline = performance.now() + MAX_RETRY_MS;
    for (let attempt = 1; ; attempt++) {
      try {
        return await command();
      } catch (error) {
        this.#throwIfFinal(error, { ...options, attempt, deadline });
        const longest = isConnectionLost(error) ? 1000 : 100;
        await delay(Math.min(10 * 2 ** attempt, longest) * (0.5 + Math.random()));
      }
    }
  };

  /** Throws unless another attempt may help. */
  #throwIfFinal(error: unknown, { once, attempt, deadline }: AttemptOptions): void {
    if (isConnectionLost(error)) {
      if (this.#closed || once || performance.now() > deadline) throw unavailable(this.#place, error);
    } else if (!isConflict(error) || attempt >= MAX_ATTEMPTS) throw explainServer(error, this.#place);
  }

  /** The store is closed: after a lost connection nothing is retried any more. */
  close(): void {
    this.#closed = true;
  }
}

interface AttemptOptions extends RunOptions {
  readonly attempt: number;
  readonly deadline: number;
}
