/**
 * Measures what one activity costs on this server: a worker of its own, on its own queue, runs a tiny workflow.
 * A server's dynamic config cannot be queried; its effect can be measured.
 */
import { randomUUID } from 'node:crypto';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { bundleWorkflowCode, type NativeConnection, Worker } from '@temporalio/worker';
import type { ProbeActivities, probe } from './probe-workflow.ts';

const COUNT = 10;
const WITHIN = '30 s';
const QUIET = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** Milliseconds from one activity to the next: the median of ten, so that brief load of the machine does not count. */
export async function measureStep(connection: NativeConnection, client: Client): Promise<number> {
  const activities: ProbeActivities = { readClock: async () => performance.now() };
  const taskQueue = `everthread-doctor-${randomUUID()}`;
  const probeFile = `./probe-workflow${extname(fileURLToPath(import.meta.url))}`;
  const worker = await Worker.create({
    connection,
    namespace: client.options.namespace,
    taskQueue,
    activities: { ...activities },
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL(probeFile, import.meta.url)),
      logger: QUIET,
    }),
  });
  const times = await worker.runUntil(
    client.workflow.execute<typeof probe>('probe', {
      taskQueue,
      workflowId: taskQueue,
      workflowExecutionTimeout: WITHIN,
      args: [COUNT],
    }),
  );
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return gaps.sort((one, other) => one - other)[Math.floor(gaps.length / 2)] ?? 0;
}
