/** Ends a thread for ever, in order: its workflow completes, what it has stored stays readable. Cancel does the same. */
import { readArguments, withClient } from './connect.ts';

const [threadId, ...words] = readArguments('terminate.ts THREAD [REASON]', 1);

await withClient(async (client) => {
  const handle = client.workflow.getHandle(`thread/${threadId}`);
  await handle.signal('terminate', { reason: words.join(' ') });
  console.log(await handle.result());
});
