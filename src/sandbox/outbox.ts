/**
 * What follows the first message in one turn of the event loop goes through the channel as one: a thousand answers
 * cost little more than one, and a single one waits for nothing. Order is kept.
 */
export interface Outbox<Message> {
  post(message: Message): void;
  /** The message, and whatever was posted before it, now. */
  send(message: Message): void;
}

export function createOutbox<Message>(write: (batch: readonly Message[]) => void): Outbox<Message> {
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
    post(message) {
      batch.push(message);
      if (gathering) return;
      gathering = true;
      flush();
      setImmediate(endOfTurn);
    },
    send(message) {
      batch.push(message);
      flush();
    },
  };
}
