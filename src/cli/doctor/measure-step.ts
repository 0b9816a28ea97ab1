/**
 * Measures what one activity costs on this server: a separate worker, on its own queue, runs a tiny workflow. A
 * server's dynamic config cannot be queried; its effect can be measured.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { type NativeConnection, Worker } from '@temporalio/worker';
import { loadProbeBundle } from './probe-bundle.ts';
import type { ProbeActivities, probe } from './probe-workflow.ts';

const STEP_COUNT = 10;
const TIMEOUT = '30 s';

/** Returns the milliseconds from one activity to the next: a median of ten, so that brief load does not count. */
export async function measureStep(connection: NativeConnection, client: Client): Promise<number> {
  const activities: ProbeActivities = { readClock: async () => performance.now() };
  const taskQueue = `everthread-doctor-${randomUUID()}`;
  const worker = await Worker.create({
    connection,
    namespace: client.options.namespace,
    taskQueue,
    activities: { ...activities },
    workflowBundle: await loadProbeBundle(),
  });
  const times = await worker.runUntil(
    client.workflow.execute<typeof probe>('probe', {
      taskQueue,
      workflowId: taskQueue,
      workflowExecutionTimeout: TIMEOUT,
      args: [STEP_COUNT],
    }),
  );
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return gaps.sort((one, other) => one - other)[Math.floor(gaps.length / 2)] ?? 0;
}
