/** Sends a message by update: the thread itself answers, with the message's id or with a refusal. Needs a worker. */
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { readArguments, withClient } from './connect.ts';

const [threadId, ...words] = readArguments('send-message.ts THREAD MESSAGE', 2);

await withClient(async (client) => {
  const handle = client.workflow.getHandle(`thread/${threadId}`);
  try {
    const { id } = await handle.executeUpdate<{ id: string }, [object]>('sendMessage', {
      args: [{ content: words.join(' ') }],
    });
    console.log(`accepted as ${id}`);
  } catch (error) {
    if (!(error instanceof WorkflowUpdateFailedError)) throw error;
    console.error(`refused: ${error.cause?.message}`);
    process.exitCode = 1;
  }
});
