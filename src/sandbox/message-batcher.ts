/**
 * What follows the first message in one turn of the event loop goes through the channel as one: a thousand answers
 * cost little more than one, and a single one waits for nothing. Order is kept.
 */
export interface MessageBatcher<Message> {
  post(...messages: Message[]): void;
  /** The messages, and whatever was posted before them, now. */
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
