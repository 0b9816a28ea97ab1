/**
 * The disk of the store is full (a small tmpfs) while a worker works: no thread fails, clients are refused with the
 * code, and once there is space everything goes on, with every message, answer and side effect present once.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { faultScript } from '../support/fault-project.ts';
import { canMount, type SmallDisk, smallDisk } from '../support/small-disk.ts';

const LINE = 'z'.repeat(3000);
const onDisk = canMount() ? describe : describe.skip;

let disk: SmallDisk;
let cluster: Cluster;
let gate: { open: () => void; opened: Promise<void> };

beforeEach(async () => {
  disk = smallDisk(16 * 1024) as SmallDisk;
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = { open: resolve, opened: promise };
  cluster = await startCluster({
    store: `sqlite:${disk.folder}/store.db`,
    script: faultScript(() => gate.opened),
  });
  await cluster.keep(1);
});
afterEach(async () => {
  gate.open();
  await cluster?.close();
  disk.close();
});

/** The thread's pending activity: its last failure, as the Web UI shows it, and its number of attempts. */
async function pending(threadId: string): Promise<{ failure?: string | null; attempt: number }> {
  const { raw } = await cluster.client.temporal.workflow.getHandle(`thread/${threadId}`).describe();
  const [activity] = raw.pendingActivities ?? [];
  return {
    failure: activity?.lastFailure?.applicationFailureInfo?.type,
    attempt: activity?.attempt ?? 0,
  };
}

/** Writes to the store until there is no space for a single further row. */
async function fillStore(threadId: string): Promise<void> {
  disk.fill();
  const { store } = cluster;
  for (let index = 0; ; index++) {
    const refusal = await store.values.set(threadId, `filler-${index}`, LINE).catch((error) => error);
    if (refusal) return expect(refusal).toMatchObject({ code: 'StoreFull' });
  }
}

onDisk('a worker whose store’s disk is full', () => {
  it('suspends every thread, refuses clients with StoreFull, and resumes once there is space', async () => {
    const before = await cluster.start('use write 2');
    const waiting = await cluster.begin('wait');
    await eventually('the model is asked', () => cluster.model.requests.some(isWaiting));
    await fillStore(before);

    // A plain signal needs no store; the client stores the content of each message first.
    const { temporal } = cluster.client;
    const content = 'use write 1';
    await temporal.workflow.getHandle(`thread/${before}`).signal('queueMessage', { content });
    for (const refusedContent of [content, LINE.repeat(3)])
      await expect(cluster.client.queueMessage(before, { content: refusedContent })).rejects.toMatchObject({
        code: 'StoreFull',
      });
    const refused = await eventually('the step is refused', async () => {
      const { failure, attempt } = await pending(before);
      return failure === 'StoreFull' && attempt;
    });
    // The answer arrives while the disk is full, and cannot be stored for seconds.
    gate.open();
    await eventually('it is refused again', async () => (await pending(before)).attempt > refused + 1);
    expect(await cluster.client.getThread(waiting)).toMatchObject({ status: 'running' });

    disk.free();
    await cluster.client.waitForIdle(before);
    await cluster.client.waitForIdle(waiting);
    expect(await cluster.transcript(waiting)).toEqual([
      'user: wait',
      'assistant: Answered "wait" after 0 tool results.',
    ]);
    expect((await cluster.transcript(before)).slice(-4)).toEqual([
      'user: use write 1',
      expect.stringContaining('-> write'),
      expect.stringMatching(/^tool write success/),
      expect.stringContaining('after 1 tool results'),
    ]);
    expect(cluster.ledger(before)).toEqual(['1', '2', '2.1']);
    for (const thread of [before, waiting])
      expect(await cluster.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
    // The answer that could not be stored was kept: the model was asked once.
    expect(cluster.model.requests.filter(isWaiting)).toHaveLength(1);
  });
});

function isWaiting({ messages }: { readonly messages: readonly { readonly content?: unknown }[] }): boolean {
  return messages.at(-1)?.content === 'wait';
}
