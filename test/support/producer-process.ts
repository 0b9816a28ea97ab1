/** A process whose closure answers chat turns: `node producer-process.ts STORE QUEUE SESSION`. It tells each line that it has produced, and hangs behind the last. */

import { produceExecution } from '../../src/client/produced-execution.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { deriveExecutionId } from '../../src/core/thread/execution-id.ts';

const [store, taskQueue, sessionId = ''] = process.argv.slice(2);
// Whoever started it is gone: nothing may outlive its test.
process.on('disconnect', () => process.exit(1));
const client = await RuntimeClient.connect({ store, taskQueue });
for (const turnIndex of [0, 1]) {
  const executionId = deriveExecutionId({ projectId: 'chat', sessionId, turnIndex });
  await produceExecution(client, {
    ...{ executionId, threadId: sessionId, content: 'go', agent: 'helper' },
    // As the face sends it.
    metadata: { chat_turn: { tenantId: 'acme', sessionId, userId: 'ada', turnIndex } },
    presenceMs: 9000,
    produce: () => ({ lines: lines(), end: async () => ({ text: '' }) }),
  });
}

async function* lines() {
  for (const delta of ['One ', 'two ']) yield { type: 'message.part.updated', data: { delta } };
  process.send?.('told');
  await new Promise(() => undefined);
}
