/** A query that comes while a local activity runs: what it does to the history of the workflow that is asked. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import type { NudgeActivities } from '../support/asked-workflows.ts';
import { closeAfterTest } from '../support/runtime.ts';

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

it('is answered, and the workflow is replayed as it lived though signals came beside', async () => {
  const address = process.env.TEMPORAL_ADDRESS;
  const connection = await Connection.connect({ address });
  closeAfterTest(() => connection.close());
  const client = new Client({ connection });
  const workflowId = `asked-${randomUUID()}`;
  const taskQueue = `query-${randomUUID()}`;
  const handle = client.workflow.getHandle(workflowId);
  const answers: Promise<number>[] = [];
  const activities: NudgeActivities = {
    async nudge(queries) {
      for (let query = 0; query < queries; query++) answers.push(handle.query<number>('status'));
      await handle.signal('stop');
    },
  };
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: pathOf('../support/asked-workflows.ts'),
    workflowInterceptorModules: [pathOf('../../src/workflows/interceptors.ts')],
    payloadConverterPath: pathOf('../../src/workflows/payload-converter.ts'),
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  });
  const native = await NativeConnection.connect({ address });
  closeAfterTest(() => native.close());
  const worker = await Worker.create({ connection: native, taskQueue, workflowBundle, activities });
  await worker.runUntil(async () => {
    await client.workflow.start('asked', { workflowId, taskQueue });
    await handle.result();
    expect(await Promise.all(answers)).toHaveLength(10);
  });
  await Worker.runReplayHistory({ workflowBundle }, await handle.fetchHistory(), workflowId);
});
