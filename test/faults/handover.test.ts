/** A worker that is told to go (SIGTERM) hands its work over; how long that takes is measured by `bench/recovery.ts`. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { hangs } from '../../src/testing/index.ts';
import { type Cluster, startCluster, type WorkerProcess } from '../support/fault-cluster.ts';
import { faultScript, release } from '../support/fault-project.ts';
import { eventually } from '../support/runtime.ts';

let cluster: Cluster;

/** `toolGraceMs`: after that what still runs is cancelled, a model call too. Heartbeats are longer than any test. */
function onCluster(toolGraceMs: number): void {
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
      configuration: { modelHeartbeatMs: 400_000, toolHeartbeatMs: 400_000, toolGraceMs },
    });
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());
}

/** Requests to the model about threads that begin so. */
const asked = (message: string) =>
  cluster.model.requests.filter(
    ({ messages }) => messages.find(({ role }) => role === 'user')?.content === message,
  ).length;

/** The worker that has the work; a second one waits when this has answered. */
async function addWaitingWorker(): Promise<WorkerProcess> {
  const [holder] = cluster.workers;
  await cluster.keep(2);
  return holder as WorkerProcess;
}

/** It is told to go while it has one thread of each kind. */
describe('a worker told to go with SIGTERM, within its grace,', () => {
  let streaming: string;
  let holding: string;
  let resting: string;
  let gone: Promise<void>;

  onCluster(400_000);
  beforeAll(async () => {
    resting = await cluster.start('hello');
    holding = await cluster.begin('use hold 1');
    await eventually('the tool to run', () => cluster.ledger(holding).length === 1);
    streaming = await cluster.begin('tell');
    const chunk = async () =>
      (await cluster.store.events.read(streaming, 0)).some((event) => event.type === 'model.chunk');
    await eventually('streamed text', chunk);
    gone = (await addWaitingWorker()).end('SIGTERM');
  });

  /** Nothing but the tool keeps it. */
  async function letGo(): Promise<void> {
    release(cluster.folder);
    await gone;
  }

  it('[AX-40] gives a streaming model call to another worker at once, and its readers learn what to forget', async () => {
    // Neither its grace nor its heartbeat can end it so early, and it is still there.
    await eventually('the second request', () => asked('tell') === 2);
    await cluster.client.waitForIdle(streaming);
    expect(await cluster.transcript(streaming)).toEqual([
      'user: tell',
      'assistant: Answered "tell" after 0 tool results.',
    ]);
    const log = await cluster.store.events.read(streaming, 0, 10_000);
    expect(eventsOf(log, 'attempt.discarded')).toMatchObject([
      { data: { attempt: 1, call: 1, reason: 'WorkerLost' } },
    ]);
  });

  it('lets a tool finish and stores its result once', async () => {
    await letGo();
    await cluster.client.waitForIdle(holding);
    expect((await cluster.transcript(holding))[2]).toBe('tool hold success: wrote 1');
    expect(cluster.ledger(holding)).toEqual(['1']);
  });

  it('leaves its idle threads to another worker, which answers the next message', async () => {
    // At the very moment of the signal the server may still hand the task to the leaving worker's poll, and its time-out has to
    // pass: bench/recovery.ts tells how often. Once it has gone, nothing of it may hold a thread.
    await letGo();
    await cluster.client.queueMessage(resting, { content: 'still there?' });
    await cluster.client.waitForIdle(resting);
    expect(asked('hello')).toBe(2);
    expect(await lostTasks(resting)).toBe(0);
  });
});

describe('a worker told to go with SIGTERM, after its grace,', () => {
  onCluster(3000);

  it('ends a tool, says that its outcome is unknown, and the thread goes on', async () => {
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
});

/** Workflow tasks that a worker took and never answered; the sticky queue's own time-out, of a second, is none of them. */
async function lostTasks(thread: string): Promise<number> {
  const { events = [] } = await cluster.client.temporal.workflow.getHandle(`thread/${thread}`).fetchHistory();
  const START_TO_CLOSE = 1;
  return (events ?? []).filter(
    (event) => event.workflowTaskTimedOutEventAttributes?.timeoutType === START_TO_CLOSE,
  ).length;
}
