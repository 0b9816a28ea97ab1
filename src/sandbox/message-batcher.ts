/**
 * Batches messages: the first in a turn of the event loop is written at once, and those that follow it in the same turn
 * together. A thousand answers cost little more than one, and a single one is not delayed. Order is kept.
 */
export interface MessageBatcher<Message> {
  post(...messages: Message[]): void;
  /** Writes the messages at once, after any that were posted before them. */
  send(...messages: Message[]): void;
}

export function createMessageBatcher<Message>(
  write: (batch: readonly Message[]) => void,
): MessageBatcher<Message> {
  let batch: Message[] = [];
  let gathering = false;
  const flush = () => {
    if (batch.length === 0) return;
    const full = batch;
    batch = [];
    write(full);
  };
  const endOfTurn = () => {
    gathering = false;
    flush();
  };
  return {
    post(...messages) {
      batch.push(...messages);
      if (gathering) return;
      gathering = true;
      flush();
      setImmediate(endOfTurn);
    },
    send(...messages) {
      batch.push(...messages);
      flush();
    },
  };
}
