/** Asks a thread what it is doing: a query, which changes nothing. Needs a worker. */
import { readArguments, withClient } from './connect.ts';

const [threadId] = readArguments('status.ts THREAD', 1);

await withClient(async (client) => {
  console.log(await client.workflow.getHandle(`thread/${threadId}`).query('status'));
});
