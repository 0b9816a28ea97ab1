/**
 * Whether the thread of some code goes on (runtime §10). Its own `terminate()` aborts what the code has begun, and from then on
 * refuses what would execute, queue or send, also in other threads of the family. What the code then returns is still its result.
 */
import { RuntimeError } from '../../core/value/error.ts';

export interface Life {
  /** Fires when the code has terminated its thread. The reason is a `ThreadTerminated`. */
  readonly signal: AbortSignal;
  end(): void;
}

/** `own`: the life of the thread whose code reaches this one as a relative. */
export function openLife(own?: Life): Life {
  const ended = new AbortController();
  return {
    signal: own ? AbortSignal.any([ended.signal, own.signal]) : ended.signal,
    end: () => ended.abort(new RuntimeError('ThreadTerminated', 'The code has terminated its thread.')),
  };
}

/** Throws `ThreadTerminated` if the thread is over, whoever has ended it. */
export function refuseTerminated(threadId: string, isOver: boolean): void {
  if (!isOver) return;
  throw new RuntimeError('ThreadTerminated', `Thread "${threadId}" is terminated: nothing more runs in it.`);
}
