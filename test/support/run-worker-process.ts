/**
 * Runs a worker process of a test, with any project: it works until it is told to stop, and never outlives its test.
 */
import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { FaultPoint } from '../../src/activities/base/dependencies.ts';
import type { Configuration } from '../../src/configuration.ts';
import type { Registry } from '../../src/core/author/registry.ts';
import { createWorker } from '../../src/worker/index.ts';

/** Configuration of a worker process, passed in `EVERTHREAD_FAULT_WORKER`. */
export interface WorkerOrder {
  readonly modelUrl: string;
  readonly folder: string;
  readonly taskQueue: string;
  readonly store: string;
  readonly configuration: Partial<Configuration>;
  /** If true, the process loads its program, then waits for a message before it becomes a worker. */
  readonly standsBy?: boolean;
}

export async function runWorkerProcess(
  project: (order: WorkerOrder) => Registry | Promise<Registry>,
  probe?: (order: WorkerOrder, point: FaultPoint) => void | Promise<void>,
): Promise<void> {
  const order = JSON.parse(process.env.EVERTHREAD_FAULT_WORKER as string) as WorkerOrder;
  const { folder, taskQueue, store, configuration, standsBy } = order;

  // Exits when its parent does: no worker may outlive its test.
  process.on('disconnect', () => process.exit(1));
  // Flushed now: the process may be killed before it could do so at its end.
  flushCompileCache();
  if (standsBy) await word();

  Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('WARN') });
  const worker = await createWorker({
    projectDir: folder,
    store,
    registry: await project(order),
    taskQueue,
    workflowBundle: process.env.EVERTHREAD_TEST_BUNDLE,
    configuration,
    probe: (point) => probe?.(order, point),
  });
  const running = worker.run();
  process.send?.('ready');
  flushCompileCache();
  await running;
  process.disconnect?.();
}

async function word(): Promise<void> {
  const given = once(process, 'message');
  process.send?.('loaded');
  await given;
}
