/**
 * Retries while the store is unreachable or its disk is full, until the work is aborted. For what an attempt at a tool
 * call cannot leave to the next attempt: if the store's answer to the begin was lost, the call still belongs to this
 * attempt, and a body that has run must not run again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isStoreUnavailable } from '../../core/value/error.ts';

const PAUSE_MS = 500;

export async function retryWhileUnavailable<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted || !isStoreUnavailable(error)) throw error;
      await delay(PAUSE_MS);
    }
  }
}
