/** What comes beside a local activity, a query or another one: whether the workflow can still be replayed as it lived. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker, type WorkflowBundle } from '@temporalio/worker';
import type { LocalActivities } from '../support/local-workflows.ts';
import { closeAfterTest } from '../support/runtime.ts';

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Four fifths of it are what the SDK waits for a local activity before it prolongs the task. */
const TASK_MS = 2000;

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

let workflowBundle: WorkflowBundle;

beforeAll(async () => {
  workflowBundle = await bundleWorkflowCode({
    workflowsPath: pathOf('../support/local-workflows.ts'),
    workflowInterceptorModules: [pathOf('../../src/workflows/interceptors.ts')],
    payloadConverterPath: pathOf('../../src/workflows/payload-converter.ts'),
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  });
});

/** Runs one workflow to its end, and replays it. */
async function live(
  type: string,
  activitiesOf: (handle: WorkflowHandle) => Partial<LocalActivities>,
  afterwards: () => Promise<void> = async () => {},
): Promise<void> {
  const address = process.env.TEMPORAL_ADDRESS;
  const connection = await Connection.connect({ address });
  closeAfterTest(() => connection.close());
  const native = await NativeConnection.connect({ address });
  closeAfterTest(() => native.close());
  const client = new Client({ connection });
  const workflowId = `${type}-${randomUUID()}`;
  const taskQueue = workflowId;
  const handle = client.workflow.getHandle(workflowId);
  const activities = activitiesOf(handle);
  const worker = await Worker.create({ connection: native, taskQueue, workflowBundle, activities });
  await worker.runUntil(async () => {
    await client.workflow.start(type, { workflowId, taskQueue, workflowTaskTimeout: TASK_MS });
    await handle.result();
    await afterwards();
  });
  await Worker.runReplayHistory({ workflowBundle }, await handle.fetchHistory(), workflowId);
}

describe('beside a local activity', () => {
  it('a query is answered, and signals that came with it keep their place', async () => {
    const answers: Promise<unknown>[] = [];
    const activitiesOf = (handle: WorkflowHandle) => ({
      async nudge(queries: number) {
        for (let query = 0; query < queries; query++)
          answers.push(handle.query<number>('status').catch((error: Error) => error));
        await handle.signal('stop');
      },
    });
    await live('asked', activitiesOf, async () => {
      for (const answer of await Promise.all(answers)) expect(answer).toEqual(expect.any(Number));
    });
    expect(answers).toHaveLength(10);
  });

  it('another one leaves both their results in their order', async () => {
    await live('beside', () => ({ waitHere: pause, waitThere: pause }));
  });

  it('a signal that was heard while it outlasted its task goes before its result', async () => {
    await live('outlasted', (handle) => ({
      async nudge() {
        await pause(TASK_MS);
        await handle.signal('stop');
        // It is heard in the next task but one, which has the result too.
        await pause(TASK_MS);
      },
    }));
  });
});
