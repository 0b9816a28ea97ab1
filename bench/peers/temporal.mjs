/** Temporal's plugin for the AI SDK: the loop is workflow code, each model call and each tool call is an activity. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AiSdkPlugin } from '@temporalio/ai-sdk';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { effect, openLedger, say } from '../support/peers/double.ts';
import { model } from './ai-model.mjs';

const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

export async function start({ folder, ledger, temporal: address, fail }) {
  Runtime.install({ shutdownSignals: [], logger: silent });
  await openLedger(ledger);
  const connection = await NativeConnection.connect({ address });
  const plugins = [
    new AiSdkPlugin({ modelProvider: { specificationVersion: 'v4', languageModel: () => model } }),
  ];
  const worker = await Worker.create({
    connection,
    taskQueue: 'peers',
    workflowBundle: { codePath: await bundle(folder, plugins) },
    activities: { effect },
    plugins,
  });
  void worker.run();
  const client = new Client({ connection: await Connection.connect({ address }) });
  const begin = async (thread, content) => {
    const args = [[{ role: 'user', content }]];
    const handle = await client.workflow.start('agent', { workflowId: thread, taskQueue: 'peers', args });
    handle.result().catch((error) => fail(thread, error));
  };
  return {
    run: (thread, steps) => begin(thread, say('go', steps, thread)),
    hang: (thread) => begin(thread, say('hang', 0, thread)),
    async cancel(thread) {
      const handle = client.workflow.getHandle(thread);
      await handle.cancel();
      await handle.result().catch(() => undefined);
    },
  };
}

/** Built once, as for production: a worker that follows a killed one does not wait for the bundler. */
async function bundle(folder, plugins) {
  const path = join(folder, '..', 'workflow-bundle.js');
  if (existsSync(path)) return path;
  const workflowsPath = fileURLToPath(new URL('temporal-workflow.mjs', import.meta.url));
  writeFileSync(path, (await bundleWorkflowCode({ workflowsPath, plugins, logger: silent })).code);
  return path;
}
