/** A worker that is told to go (SIGTERM) hands its work over; bounds are generous here, `bench/recovery.ts` measures. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { hangs } from '../../src/testing/index.ts';
import { type Cluster, startCluster, type WorkerProcess } from '../support/fault-cluster.ts';
import { faultScript, release } from '../support/fault-project.ts';
import { eventually } from '../support/runtime.ts';

let cluster: Cluster;
/** Requests to the model before this test. */
let askedBefore: number;

beforeAll(async () => {
  const script = faultScript();
  let told = false;
  cluster = await startCluster({
    // The first answer never comes to its end.
    script: (request, index) => {
      if (told || request.messages.at(-1)?.content !== 'tell') return script(request, index);
      told = true;
      return hangs({ after: 'Once upon' });
    },
    configuration: { modelHeartbeatMs: 20_000, toolHeartbeatMs: 20_000, toolGraceMs: 3000 },
  });
});
// Whoever waited in the test before has the work of this one.
beforeEach(async () => {
  await cluster.keep(1);
  askedBefore = cluster.model.requests.length;
});
afterAll(() => cluster?.close());

const asked = () => cluster.model.requests.length - askedBefore;

/** The worker that has the work, and another that waits. */
async function addWaitingWorker(): Promise<WorkerProcess> {
  const [holder] = cluster.workers;
  await cluster.keep(2);
  return holder as WorkerProcess;
}

describe('a worker told to go with SIGTERM', () => {
  it('gives a streaming model call to another worker at once', async () => {
    const thread = await cluster.begin('tell');
    const chunk = async () =>
      (await cluster.client.store.readEvents(thread, 0)).some((event) => event.type === 'model.chunk');
    await eventually('streamed text', chunk);
    const holder = await addWaitingWorker();
    const gone = holder.end('SIGTERM');
    // Half the heartbeat timeout, after which any worker's work would go on.
    await eventually('the second request', () => asked() === 2, 10_000);
    await cluster.client.waitForIdle(thread);
    await gone;
    expect(await cluster.transcript(thread)).toEqual([
      'user: tell',
      'assistant: Answered "tell" after 0 tool results.',
    ]);
  });

  it('ends a tool that outlasts its grace, says that its outcome is unknown, and the thread goes on', async () => {
    const thread = await cluster.begin('use hold 1');
    await eventually('the tool to run', () => cluster.ledger(thread).length === 1);
    await (await addWaitingWorker()).end('SIGTERM');
    await cluster.client.waitForIdle(thread);
    expect((await cluster.transcript(thread)).slice(2)).toEqual([
      expect.stringMatching(/^tool hold error: .*outcome of this call is unknown/),
      'assistant: Answered "use hold 1" after 1 tool results.',
    ]);
    expect(cluster.ledger(thread)).toEqual(['1']);
  });

  it('lets a tool finish within its grace and stores its result once', async () => {
    const thread = await cluster.begin('use hold 1');
    await eventually('the tool to run', () => cluster.ledger(thread).length === 1);
    const holder = await addWaitingWorker();
    const gone = holder.end('SIGTERM');
    release(cluster.folder);
    await cluster.client.waitForIdle(thread);
    await gone;
    expect((await cluster.transcript(thread))[2]).toBe('tool hold success: wrote 1');
    expect(cluster.ledger(thread)).toEqual(['1']);
  });

  it('leaves its idle threads to another worker, which answers the next message', async () => {
    const thread = await cluster.begin('hello');
    await cluster.client.waitForIdle(thread);
    const holder = await addWaitingWorker();
    // In the very instant of the signal the server may still hand the task to the leaving worker's poll, and its
    // time-out has to pass: bench/recovery.ts tells how often. Once it has gone, nothing of it may hold a thread.
    await holder.end('SIGTERM');
    await cluster.client.queueMessage(thread, { content: 'still there?' });
    await eventually('the next request', () => asked() === 2, 8000);
  });
});
