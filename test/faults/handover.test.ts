/** A worker that receives SIGTERM hands its work over; `bench/recovery.ts` measures how long that takes. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf, type ThreadEvent } from '../../src/core/event/thread-event.ts';
import { hangs, says } from '../../src/testing/index.ts';
import { type Cluster, startCluster, type WorkerProcess } from '../support/fault-cluster.ts';
import { faultScript, release } from '../support/fault-project.ts';
import { eventually } from '../support/runtime.ts';

let cluster: Cluster;
const TALE = 'Once upon a time there was a worker that had to go. '.repeat(4);

interface Grace {
  readonly toolGraceMs: number;
  readonly modelGraceMs: number;
}

/**
 * The first answer to "tell" never completes; the one to "tell all" takes seconds. Heartbeat timeouts are longer than
 * any test.
 */
function onCluster(grace: Grace): void {
  beforeAll(async () => {
    const script = faultScript();
    let told = false;
    cluster = await startCluster({
      script: (request, index) => {
        const said = request.messages.at(-1)?.content;
        if (said === 'tell all') return says(TALE, { chunks: 60, chunkDelayMs: 100 });
        if (told || said !== 'tell') return script(request, index);
        told = true;
        return hangs({ after: 'Once upon' });
      },
      configuration: { modelHeartbeatMs: 400_000, toolHeartbeatMs: 400_000, ...grace },
    });
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());
}

/** Number of model requests about threads that begin with this message. */
const asked = (message: string) =>
  cluster.model.requests.filter(
    ({ messages }) => messages.find(({ role }) => role === 'user')?.content === message,
  ).length;

/** Starts a second worker, which waits, and returns the one that holds the work. */
async function addWaitingWorker(): Promise<WorkerProcess> {
  const [holder] = cluster.workers;
  await cluster.keep(2);
  return holder as WorkerProcess;
}

/** Resolves when the first text of a thread has been streamed. */
async function beginToStream(message: string): Promise<string> {
  const thread = await cluster.begin(message);
  await eventually('streamed text', async () => (await logOf(thread)).some(isChunk));
  return thread;
}

const logOf = (thread: string) => cluster.store.events.read(thread, 0, 10_000);
const isChunk = ({ type }: ThreadEvent) => type === 'model.chunk';

/** Everything that shows a reader or an operator that another worker had the step before. */
const retriesOf = async (thread: string) => {
  const log = await logOf(thread);
  return [...eventsOf(log, 'attempt.discarded'), ...eventsOf(log, 'step.retried')].map(({ data }) => data);
};
/** On a loaded machine the attempt also has the time that it waited for a worker. */
const HANDED_OVER = [
  { attempt: 1, call: 1, reason: 'WorkerShutdown' },
  { reason: 'its worker has shut down', cause: 'worker_shutdown', handedOver: true },
];

/** The worker has one thread of each kind when it receives the signal. */
describe('a worker that gets SIGTERM, without a grace period for models,', () => {
  let streaming: string;
  let holding: string;
  let resting: string;
  let gone: Promise<void>;

  onCluster({ toolGraceMs: 400_000, modelGraceMs: 0 });
  beforeAll(async () => {
    resting = await cluster.start('hello');
    holding = await cluster.begin('use hold 1');
    await eventually('the tool to run', () => cluster.ledger(holding).length === 1);
    streaming = await beginToStream('tell');
    gone = (await addWaitingWorker()).end('SIGTERM');
  });

  /** Releases the tool, the only work that keeps the worker alive, and waits for the worker to exit. */
  async function letGo(): Promise<void> {
    release(cluster.folder);
    await gone;
  }

  it('[AX-40] hands a streaming model call over at once; readers discard the old attempt, and no worker counts as lost', async () => {
    // Neither the worker's grace nor a heartbeat timeout can end the call this early, and the worker is still running.
    await eventually('the second request', () => asked('tell') === 2);
    await cluster.client.waitForIdle(streaming);
    expect(await cluster.transcript(streaming)).toEqual([
      'user: tell',
      'assistant: Answered "tell" after 0 tool results.',
    ]);
    expect(await retriesOf(streaming)).toMatchObject(HANDED_OVER);
  });

  it('finishes a running tool and stores its result once', async () => {
    await letGo();
    await cluster.client.waitForIdle(holding);
    expect((await cluster.transcript(holding))[2]).toBe('tool hold success: wrote 1');
    expect(cluster.ledger(holding)).toEqual(['1']);
  });

  it('hands its idle threads to another worker, which answers the next message', async () => {
    // At the moment of the signal the server may still hand the task to the leaving worker's poll; its timeout then has
    // to pass (bench/recovery.ts measures how often). After the worker has exited, nothing of it may hold up a thread.
    await letGo();
    await cluster.client.queueMessage(resting, { content: 'still there?' });
    await cluster.client.waitForIdle(resting);
    expect(asked('hello')).toBe(2);
    expect(await lostTasks(resting)).toBe(0);
  });
});

describe('a worker that gets SIGTERM, within its grace period for models,', () => {
  // Tools have no grace; a model call outlives that.
  onCluster({ toolGraceMs: 0, modelGraceMs: 400_000 });

  it('finishes a streaming answer: one request, no discarded attempt, and no worker counts as lost', async () => {
    const thread = await beginToStream('tell all');
    await (await addWaitingWorker()).end('SIGTERM');
    await cluster.client.waitForIdle(thread);
    expect(await cluster.transcript(thread)).toEqual(['user: tell all', `assistant: ${TALE}`]);
    expect(asked('tell all')).toBe(1);
    expect(await retriesOf(thread)).toEqual([]);
  });
});

/** The worker has one thread of each kind when it receives the signal. */
describe('a worker that gets SIGTERM, after its grace period,', () => {
  let streaming: string;
  let holding: string;

  onCluster({ toolGraceMs: 3000, modelGraceMs: 1000 });
  beforeAll(async () => {
    holding = await cluster.begin('use hold 1');
    await eventually('the tool to run', () => cluster.ledger(holding).length === 1);
    streaming = await beginToStream('tell');
    await (await addWaitingWorker()).end('SIGTERM');
  });

  it('hands a model call that still streams to another worker, and no worker counts as lost', async () => {
    await cluster.client.waitForIdle(streaming);
    expect((await cluster.transcript(streaming)).at(-1)).toBe(
      'assistant: Answered "tell" after 0 tool results.',
    );
    expect(asked('tell')).toBe(2);
    expect(await retriesOf(streaming)).toMatchObject(HANDED_OVER);
  });

  it('ends a running tool with an unknown outcome, and the thread continues', async () => {
    await cluster.client.waitForIdle(holding);
    expect((await cluster.transcript(holding)).slice(2)).toEqual([
      expect.stringMatching(/^tool hold error: .*outcome of this call is unknown/),
      'assistant: Answered "use hold 1" after 1 tool results.',
    ]);
    expect(cluster.ledger(holding)).toEqual(['1']);
  });
});

/**
 * Number of workflow tasks that a worker took and never answered; the sticky queue's own timeout of one second does not
 * count.
 */
async function lostTasks(thread: string): Promise<number> {
  const { events = [] } = await cluster.client.temporal.workflow.getHandle(`thread/${thread}`).fetchHistory();
  const START_TO_CLOSE = 1;
  return (events ?? []).filter(
    (event) => event.workflowTaskTimedOutEventAttributes?.timeoutType === START_TO_CLOSE,
  ).length;
}
