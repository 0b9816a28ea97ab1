/**
 * Queues a message by signal: durable as soon as the server has accepted it, also while no worker runs. With an id of your own it
 * can be sent again without harm.
 */
import { randomUUID } from 'node:crypto';
import { readArguments, withClient } from './connect.ts';

const [threadId, ...words] = readArguments('queue-message.ts THREAD MESSAGE', 2);
const id = randomUUID();

await withClient(async (client) => {
  const handle = client.workflow.getHandle(`thread/${threadId}`);
  await handle.signal('queueMessage', { id, content: words.join(' ') });
  console.log(`queued as ${id}`);
});
