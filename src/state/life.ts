/**
 * Whether the thread of some code goes on (runtime §10). Its own `terminate()` aborts what the code has begun, and from then on
 * refuses what would execute, queue or send. What the code then returns is still its result.
 */
import { RuntimeError } from '../core/value/error.ts';

export interface Life {
  /** Fires when the code has terminated its thread. */
  readonly signal: AbortSignal;
  end(): void;
}

export function openLife(): Life {
  const ended = new AbortController();
  return {
    signal: ended.signal,
    end: () => ended.abort(new RuntimeError('ThreadTerminated', 'The code has terminated its thread.')),
  };
}

/** Throws `ThreadTerminated` if the thread is over, whoever has ended it. */
export function refuseTerminated(threadId: string, isOver: boolean): void {
  if (!isOver) return;
  throw new RuntimeError('ThreadTerminated', `Thread "${threadId}" is terminated: nothing more runs in it.`);
}
