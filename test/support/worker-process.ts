/** A worker as a process of its own, for tests that kill it. What it is to do comes in `EVERTHREAD_FAULT_WORKER`. */
import { flushCompileCache } from 'node:module';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { Configuration } from '../../src/configuration.ts';
import { createWorker } from '../../src/worker/index.ts';
import { dieIfOrdered, faultRegistry } from './fault-project.ts';

export interface WorkerOrder {
  readonly modelUrl: string;
  readonly folder: string;
  readonly taskQueue: string;
  readonly store: string;
  readonly configuration: Partial<Configuration>;
}

const order = JSON.parse(process.env.EVERTHREAD_FAULT_WORKER as string) as WorkerOrder;
const { folder, taskQueue, store, configuration } = order;

// Whoever started it is gone: no worker may outlive its test.
process.on('disconnect', () => process.exit(1));

Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('WARN') });
const worker = await createWorker({
  projectDir: folder,
  store,
  registry: faultRegistry(order),
  taskQueue,
  workflowBundle: process.env.EVERTHREAD_TEST_BUNDLE,
  configuration,
  probe: (point) => dieIfOrdered(folder, point),
});
const running = worker.run();
process.send?.('ready');
// It may be killed before it can do so at its end.
flushCompileCache();
await running;
process.disconnect?.();
