/**
 * Where an endpoint's queued work goes: to the thread's workflow, which is woken if it is at rest.
 * W1. An item is staged in the store, whole, and then signalled. Its staged row overrides the signal's content
 *     (store/commands/message/queue.ts), so the files of a message and the origin `code` of a tool call, which lets it name any tool
 *     of the project, never come from a signal: senders outside cannot claim them. Ids are unguessable hashes (state/id.ts).
 * W2. Items keep the order in which the endpoint queued them, also if it did not await them.
 * W3. `queueTool` cannot be awaited: `settle` waits for it, before the endpoint's response is sent.
 * W4. `terminate` signals first, so that the workflow ends whatever happens to this process, and then ends the thread in the
 *     store, so that the endpoint sees it at once. In the reverse order the client would find it ended and signal nothing.
 * W5. Work for another thread of the family is queued to that thread in the same way.
 */
import { storeOf } from '../client/client-store.ts';
import { refuseTerminated } from '../client/known-thread.ts';
import type { RuntimeClient } from '../client/runtime-client.ts';
import type { MessageItem } from '../core/thread/item.ts';
import { terminateDescendants } from '../state/descendants.ts';
import { openSerialQueue } from '../state/serial-queue.ts';
import type { WorkSink } from '../state/work-sink.ts';
import type { QueuedTool } from '../store/port/tool.ts';

export interface EndpointWork {
  readonly sink: WorkSink;
  /** Accepts no more work, and waits for what was accepted. Rejects with the first failure that was not awaited. */
  settle(): Promise<void>;
}

/** Placeholder for the content in the signal; the staged row has the real one (W1). */
const PLACEHOLDER_TEXT = '(no text)';

export function openWork(client: RuntimeClient, threadId: string): EndpointWork {
  const line = openSerialQueue();
  const relatives: EndpointWork[] = [];
  let settled = false;
  const thread: QueuedThread = { client, threadId };
  return {
    sink: {
      queueMessage: (item) => line.add(() => queueMessage(thread, item)),
      queueTool(tool) {
        if (settled) throw new Error('The endpoint has already returned: call queueTool before it returns.');
        line.addUnawaited(() => queueTool(thread, tool));
      },
      terminate: () => line.add(() => terminate(thread)),
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

interface QueuedThread {
  readonly client: RuntimeClient;
  readonly threadId: string;
}

/** W1: staged, then signalled. */
async function queueMessage({ client, threadId }: QueuedThread, item: MessageItem): Promise<void> {
  const store = storeOf(client);
  await refuseTerminated(store, threadId);
  await store.queue.stage(threadId, item);
  const { id, role, content, silent, metadata } = item;
  // Only some roles of an item may be queued; the client rejects the others.
  const asked = role as 'user' | 'assistant';
  await client.queueMessage(threadId, {
    id,
    role: asked,
    content: content || PLACEHOLDER_TEXT,
    silent,
    metadata,
  });
}

/** W1: staged, then signalled. */
async function queueTool({ client, threadId }: QueuedThread, tool: QueuedTool): Promise<void> {
  const store = storeOf(client);
  await refuseTerminated(store, threadId);
  await store.queue.stage(threadId, { kind: 'tool', origin: 'code', ...tool });
  await client.queueTool(threadId, { id: tool.id, name: tool.name });
}

/** W4: the workflow first, then the store. */
async function terminate({ client, threadId }: QueuedThread): Promise<void> {
  const store = storeOf(client);
  await client.terminate(threadId, 'state.terminate');
  await store.threads.terminate(threadId, 'state.terminate');
  await terminateDescendants(store, threadId, async (descendant, reason) => {
    await client.terminate(descendant, reason);
    return true;
  });
}
