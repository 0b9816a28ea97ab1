/**
 * The sockets of this process that are open, by thread. Its clients show a message before it is sent, and forget it when it is accepted: so
 * whoever accepts one tells the thread's sockets of it first.
 */
import type { Message } from '../../core/message/message.ts';

/** Is told a message that waits; passes over one that it has told as a row of the log. */
export type HearWaiting = (message: Message) => void;

export interface LiveStreams {
  /** Answers how to leave. */
  join(threadId: string, hear: HearWaiting): () => void;
  tell(threadId: string, message: Message): void;
}

export function createLiveStreams(): LiveStreams {
  const open = new Map<string, Set<HearWaiting>>();
  return {
    join(threadId, hear) {
      const here = open.get(threadId) ?? new Set();
      open.set(threadId, here.add(hear));
      return () => {
        here.delete(hear);
        if (here.size === 0 && open.get(threadId) === here) open.delete(threadId);
      };
    },
    tell(threadId, message) {
      for (const hear of open.get(threadId) ?? []) hear(message);
    },
  };
}
