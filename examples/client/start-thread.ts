/** Starts a thread: a workflow of type `thread` whose id is `thread/` and the thread's own id. */
import { readArguments, withClient } from './connect.ts';

const [threadId, agent, ...words] = readArguments('start-thread.ts THREAD AGENT [MESSAGE]', 2);
const content = words.join(' ');

await withClient(async (client) => {
  const handle = await client.workflow.start('thread', {
    workflowId: `thread/${threadId}`,
    taskQueue: process.env.EVERTHREAD_TASK_QUEUE || 'everthread',
    args: [{ agent, messages: content === '' ? [] : [{ content }] }],
  });
  console.log(`started ${handle.workflowId}, run ${handle.firstExecutionRunId}`);
});
