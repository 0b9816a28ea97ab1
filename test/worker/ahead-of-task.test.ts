/**
 * A query waits for a busy worker while its thread has new events: a replay of the history must make the same
 * decisions.
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { NativeWorker, type NativeWorkerLike } from '@temporalio/worker/lib/worker.js';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { DivergedRuns } from '../../src/worker/diverged-runs.ts';
import type { PromptCancellations } from '../../src/worker/prompt-cancellations.ts';
import { createRetirableWorker } from '../../src/worker/retirable-worker.ts';
import { TaskBuffer } from '../../src/worker/task-buffer.ts';
import { readBundle } from '../../src/workflow-bundle.ts';
import '../once/replays.ts';
import { closeAfterTest, eventually, testRuntime } from '../support/runtime.ts';

const { WorkflowActivation } = proto.coresdk.workflow_activation;
type Activation = ReturnType<typeof WorkflowActivation.decode>;

/** Maximum number of tries: a round in which a workflow task comes before the query shows nothing. */
const ROUNDS = 8;
/** Milliseconds after which the server gives the query to any worker of the task queue, with the whole history. */
const STICKY_MS = 100;

let workflowBundle: { code: string };
let connection: NativeConnection;
let client: Client;

beforeAll(async () => {
  const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
  const workflowsPath = fileURLToPath(new URL('../support/ordered-workflow.ts', import.meta.url));
  workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: quiet });
  const address = process.env.TEMPORAL_ADDRESS as string;
  connection = await NativeConnection.connect({ address });
  client = new Client({ connection: await Connection.connect({ address }) });
});
afterAll(async () => {
  await client?.connection.close();
  await connection?.close();
});

/**
 * Sits between the native worker and the SDK: held activations wait here, and each occupies a slot for workflow tasks.
 */
class Gate {
  /** Functions that release held activations, by run id. */
  readonly held = new Map<string, () => void>();
  holds: (activation: Activation) => boolean = () => false;

  async createNative(...given: Parameters<typeof NativeWorker.create>): Promise<NativeWorkerLike> {
    const worker = await NativeWorker.create(...given);
    const line: TaskBuffer = new TaskBuffer(worker.pollWorkflowActivation, (bytes) => {
      const activation = WorkflowActivation.decode(new Uint8Array(bytes));
      if (!this.holds(activation)) return true;
      this.held.set(activation.runId, () => line.put(bytes));
      return false;
    });
    return Object.assign(worker, { pollWorkflowActivation: () => line.next() });
  }

  release(): void {
    this.holds = () => false;
    for (const release of this.held.values()) release();
    this.held.clear();
  }
}

const isNews = ({ jobs }: Activation) => jobs.some(({ resolveActivity }) => resolveActivity);

async function start(type: string, taskQueue: string): Promise<WorkflowHandle & { runId: string }> {
  const handle = await client.workflow.start(type, { taskQueue, workflowId: `${type}-${randomUUID()}` });
  return Object.assign(handle, { runId: handle.firstExecutionRunId });
}

/** Number of events of a kind in the history so far. */
async function count(handle: WorkflowHandle, kind: 'activityTaskCompleted' | 'workflowExecutionSignaled') {
  const { events } = await handle.fetchHistory();
  return (events ?? []).filter((event) => event[`${kind}EventAttributes`]).length;
}

it('a query that waited for a busy worker does not advance its thread', async () => {
  const taskQueue = `test-${randomUUID()}`;
  const gate = new Gate();
  const works: PromiseWithResolvers<'go on' | 'end'>[] = [];
  const options = {
    connection,
    taskQueue,
    maxConcurrentWorkflowTaskExecutions: 2,
    stickyQueueScheduleToStartTimeout: STICKY_MS,
    activities: {
      work(round: number) {
        if (round < 0) return 'go on';
        works[round] ??= Promise.withResolvers();
        return works[round].promise;
      },
    },
  };
  const worker = await createRetirableWorker(
    options,
    readBundle(workflowBundle.code),
    { graceMs: 1000, modelGraceMs: 0, forceMs: 1000 },
    { admit() {}, lost() {} },
    gate as unknown as PromptCancellations,
    new DivergedRuns({ connection, namespace: 'default', warn() {} }),
  );
  const ended = worker.run();
  closeAfterTest(() => {
    for (const { resolve } of works) resolve('end');
    gate.release();
    worker.end();
    return ended;
  });
  const thread = await start('ordered', taskQueue);
  const others: WorkflowHandle[] = [];
  let refused = false;
  for (let round = 0; round < ROUNDS; round++) {
    const work = await eventually(`round ${round}`, () => works[round]);
    const done = await count(thread, 'activityTaskCompleted');
    // Both slots are occupied by tasks of two other runs: one that the worker has cached, and one that it has not.
    const cached = await start('busy', taskQueue);
    await eventually('the worker to have it', async () => (await cached.describe()).historyLength >= 4);
    gate.holds = () => true;
    await cached.signal('poke');
    others.push(cached, await start('busy', taskQueue));
    await eventually('both places to be taken', () => gate.held.size === 2);

    const asked = thread.query<number>('heard').catch((error: unknown) => error);
    // Nothing shows when the server has moved the query: if this wait was too short, the next round tries again.
    await new Promise((resolve) => setTimeout(resolve, 4 * STICKY_MS));
    const last = refused || round === ROUNDS - 1;
    work.resolve(last ? 'end' : 'go on');
    await eventually('the news', async () => (await count(thread, 'activityTaskCompleted')) > done);
    gate.release();
    // Whether the query or a workflow task brought the activity's result: a signal arrives before the thread handles
    // that result.
    gate.holds = (activation) => activation.runId === thread.runId && isNews(activation);
    await eventually('the news at the worker', () => gate.held.has(thread.runId));
    await thread.signal('tell');
    gate.release();
    const answer = await asked;
    if (last) break;
    refused = answer instanceof Error && answer.message.includes('repeat the query in a moment');
    if (!refused) expect([round, round + 1]).toContain(answer);
  }
  expect(refused).toBe(true);
  await thread.result();
  await Promise.all(others.map((each) => each.terminate()));
  await Worker.runReplayHistory({ workflowBundle }, await thread.fetchHistory());
});

it('an ended thread answers queries, replayed from its whole history', async () => {
  const runtime = await testRuntime({ model: scriptedModel([says('hello')]) });
  const thread = await runtime.start('hi');
  await runtime.client.terminate(thread, 'over');
  const handle = runtime.client.temporal.workflow.getHandle(`thread/${thread}`);
  await handle.result();
  expect(await handle.query('status')).toMatchObject({ status: 'terminated' });
});
