/**
 * Where an endpoint's queued work goes: to the thread's workflow, which is woken if it is at rest.
 * - An item is stored whole, and then signalled by its id. So the files of a message and the origin `code` of a tool
 *   call, which lets it name any tool of the project, never come from a signal: senders outside cannot claim them. Ids
 *   are unguessable hashes (author/state/id.ts).
 * - Items keep the order in which the endpoint queued them, also if it did not await them.
 * - `queueTool` cannot be awaited: `settle` waits for it, before the endpoint's response is sent.
 * - `terminate` signals first, so that the workflow ends whatever happens to this process, and then ends the thread in the
 *   store, so that the endpoint sees it at once. In the reverse order the client would find it ended and signal nothing.
 * - Work for another thread of the family is queued to that thread in the same way.
 */

import { openSerialQueue } from '../author/guard/serial-queue.ts';
import { terminateDescendants } from '../author/state/descendants.ts';
import type { WorkSink } from '../author/state/work-sink.ts';
import type { RuntimeClient } from '../client/runtime-client.ts';

export interface EndpointWork {
  readonly sink: WorkSink;
  /** Accepts no more work, and waits for what was accepted. Rejects with the first failure that was not awaited. */
  settle(): Promise<void>;
}

export function openWork(client: RuntimeClient, threadId: string): EndpointWork {
  const line = openSerialQueue();
  const relatives: EndpointWork[] = [];
  let settled = false;
  return {
    sink: {
      queueMessage: (item) => line.add(() => client.queueItem(threadId, item)),
      queueTool(tool) {
        if (settled) throw new Error('The endpoint has already returned: call queueTool before it returns.');
        line.addUnawaited(() => client.queueItem(threadId, { kind: 'tool', origin: 'code', ...tool }));
      },
      terminate: () => line.add(() => terminate(client, threadId)),
      wakeForEffects: (inMs) => client.wakeForEffects(threadId, inMs),
      wake: () => client.wake(threadId),
      noteTold: () => undefined,
      reach(relative) {
        const work = openWork(client, relative);
        relatives.push(work);
        return work.sink;
      },
    },
    async settle() {
      settled = true;
      await line.reached();
      for (const relative of relatives) await relative.settle();
      line.throwFailure();
    },
  };
}

/** The workflow first, then the store. */
async function terminate(client: RuntimeClient, threadId: string): Promise<void> {
  const store = client.store;
  await client.terminate(threadId, 'state.terminate');
  await store.threads.terminate(threadId, 'state.terminate');
  await terminateDescendants(store, threadId, async (descendant, reason) => {
    await client.terminate(descendant, reason);
    return true;
  });
}
