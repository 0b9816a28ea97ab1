/**
 * Waits for a store that is away, or whose disk is full, for as long as the work may. For what an attempt of a tool cannot leave to the next
 * one: a beginning whose answer was lost is this attempt's still, and a body that has run may not run again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isStoreAway } from '../core/value/error.ts';

const PAUSE_MS = 500;

export async function retryWhileUnavailable<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted || !isStoreAway(error)) throw error;
      await delay(PAUSE_MS);
    }
  }
}
