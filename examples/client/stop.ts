/** Ends what the thread is doing now: the model's stream, a running tool. The next message starts it again. */
import { readArguments, withClient } from './connect.ts';

const [threadId, ...words] = readArguments('stop.ts THREAD [REASON]', 1);

await withClient(async (client) => {
  await client.workflow.getHandle(`thread/${threadId}`).signal('stop', { reason: words.join(' ') });
  console.log('told to stop');
});
