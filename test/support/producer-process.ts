/**
 * A process that answers chat turns by a closure: `node producer-process.ts STORE QUEUE SESSION`. It sends `told` to
 * its parent once it has produced the lines of a turn, and hangs after the last line.
 */

import { produceExecution } from '../../src/client/produced-execution.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { deriveExecutionId } from '../../src/core/thread/execution-id.ts';

const [store, taskQueue, sessionId = ''] = process.argv.slice(2);
// Exits when its parent does: no process may outlive its test.
process.on('disconnect', () => process.exit(1));
const client = await RuntimeClient.connect({ store, taskQueue });
for (const turnIndex of [0, 1]) {
  const executionId = deriveExecutionId({ projectId: 'chat', sessionId, turnIndex });
  await produceExecution(client, {
    ...{ executionId, threadId: sessionId, content: 'go', agent: 'helper' },
    // The same metadata as the chat turn API sends.
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
