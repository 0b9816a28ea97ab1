/** Limits the number of open streams, of the process and of one thread, and how long each lasts. */
import type { StreamPlace } from './host.ts';

export interface StreamLimits {
  /** Maximum number of open streams of the process; 1,000 unless given. */
  readonly streams?: number;
  /** Maximum number of open streams of one thread; 100 unless given. */
  readonly streamsOfThread?: number;
  /** Milliseconds until a stream is ended, plus up to a tenth so that not all end at once; ten minutes unless given. */
  readonly streamMs?: number;
}

export interface OpenStreamPlace extends StreamPlace {
  /** Ends all streams. */
  close(): void;
}

export function createStreamPlace(limits: StreamLimits = {}): OpenStreamPlace {
  const { streams = 1000, streamsOfThread = 100, streamMs = 600_000 } = limits;
  const closing = new AbortController();
  const open = new Map<string, number>();
  let all = 0;
  return {
    enter(threadId) {
      const here = open.get(threadId) ?? 0;
      if (all >= streams || here >= streamsOfThread) return null;
      all += 1;
      open.set(threadId, here + 1);
      const aged = new AbortController();
      const timer = setTimeout(() => aged.abort(), streamMs * (1 + Math.random() / 10));
      timer.unref();
      let left = false;
      return {
        signal: AbortSignal.any([closing.signal, aged.signal]),
        leave() {
          if (left) return;
          left = true;
          clearTimeout(timer);
          all -= 1;
          const rest = (open.get(threadId) ?? 1) - 1;
          if (rest > 0) open.set(threadId, rest);
          else open.delete(threadId);
        },
      };
    },
    close: () => closing.abort(),
  };
}
