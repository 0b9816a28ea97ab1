/**
 * Back-pressure from the host to the code: while too much of what was sent is unacknowledged, the sender waits. A flood
 * is slowed down to the speed of the host instead of growing some buffer.
 */
import { type Wire, wireBytes } from '../codec/wire.ts';

const MESSAGES = 256;
const BYTES = 4 * 1024 * 1024;

export interface Flow {
  /** Counts what was sent, and returns a promise to wait for if the host is behind. */
  sent(wire: Wire): Promise<void> | undefined;
  taken(count: number, bytes: number): void;
}

export function createFlow(): Flow {
  let messages = 0;
  let bytes = 0;
  let waiting: PromiseWithResolvers<void> | undefined;
  const behind = () => messages >= MESSAGES || bytes >= BYTES;
  return {
    sent(wire) {
      messages += 1;
      bytes += wireBytes(wire);
      if (!behind()) return undefined;
      waiting ??= Promise.withResolvers<void>();
      return waiting.promise;
    },
    taken(count, size) {
      messages -= count;
      bytes -= size;
      if (behind()) return;
      waiting?.resolve();
      waiting = undefined;
    },
  };
}
