/**
 * The open sockets of this process, by thread. The standard's clients show a message before they send it, and drop it
 * once it is accepted. So an accepted message is sent to the thread's sockets before the response.
 */
import type { Message } from '../../core/message/message.ts';

/** Receives a message that is in line; ignores one that was already sent as a row of the log. */
export type MessageListener = (message: Message) => void;

export interface LiveStreams {
  /** Returns a function that removes the listener. */
  join(threadId: string, listener: MessageListener): () => void;
  tell(threadId: string, message: Message): void;
}

export function createLiveStreams(): LiveStreams {
  const open = new Map<string, Set<MessageListener>>();
  return {
    join(threadId, listener) {
      const here = open.get(threadId) ?? new Set();
      open.set(threadId, here.add(listener));
      return () => {
        here.delete(listener);
        if (here.size === 0 && open.get(threadId) === here) open.delete(threadId);
      };
    },
    tell(threadId, message) {
      for (const listener of open.get(threadId) ?? []) listener(message);
    },
  };
}
