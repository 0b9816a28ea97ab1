/**
 * Metrics that are queried on demand and cached for five seconds: those of the whole store, and the backlog of the
 * worker's task queues.
 * - The cost is bounded, however often metrics are read and however many threads there are
 *   (store/thread/list-threads.ts).
 * - A metric whose query fails has no value: an outdated one would look like an idle system.
 */
import type { NativeConnection } from '@temporalio/worker';
import { Gauge, type Registry as Metrics } from 'prom-client';
import { sideQueue } from '../../core/thread/activities.ts';
import type { ThreadStore } from '../../store/store.ts';

const CACHE_MS = 5000;
const WITHIN_MS = 2000;
const WORKFLOW = 1;
const ACTIVITY = 2;

export interface CensusPlace {
  readonly store: Pick<ThreadStore, 'threads'>;
  readonly connection: Pick<NativeConnection, 'workflowService' | 'withDeadline'>;
  readonly namespace: string;
  readonly taskQueue: string;
}

export function takeCensusOnDemand(metrics: Metrics, place: CensusPlace): () => Promise<void> {
  const registers = [metrics];
  const threads = new Gauge({
    name: 'everthread_threads',
    help: 'Threads of the store by status, counted up to 10000 each; every worker of the store reports the same',
    labelNames: ['status'],
    registers,
  });
  const waiting = new Gauge({
    name: 'everthread_queue_oldest_seconds',
    help: 'Age of the oldest item from outside that waits in the store for its step; threads that wait for a person are excluded',
    // With a label, a reset gauge has no series; without one it would report 0.
    labelNames: ['place'],
    registers,
  });
  const people = new Gauge({
    name: 'everthread_wait_oldest_seconds',
    help: 'How long a thread has waited for people, the longest of all; every worker of the store reports the same',
    labelNames: ['place'],
    registers,
  });
  const backlog = new Gauge({
    name: 'everthread_task_queue_backlog',
    help: 'Approximate number of tasks waiting in Temporal for a worker of this queue',
    labelNames: ['task_queue', 'type'],
    registers,
  });
  const backlogAge = new Gauge({
    name: 'everthread_task_queue_backlog_age_seconds',
    help: 'Approximate age of the oldest waiting task',
    labelNames: ['task_queue', 'type'],
    registers,
  });
  const readStore = async () => {
    const census = await place.store.threads.census().catch(() => undefined);
    // No value rather than an outdated one.
    threads.reset();
    waiting.reset();
    people.reset();
    if (!census) return;
    for (const [status, count] of Object.entries(census.threads)) threads.set({ status }, count);
    waiting.set({ place: 'store' }, census.oldestItemMs / 1000);
    people.set({ place: 'store' }, census.oldestWaitMs / 1000);
  };
  const readQueues = async () => {
    const asked = [
      { name: place.taskQueue, type: WORKFLOW, label: 'workflow' },
      { name: place.taskQueue, type: ACTIVITY, label: 'activity' },
      { name: sideQueue(place.taskQueue, 'commits'), type: ACTIVITY, label: 'activity' },
      { name: sideQueue(place.taskQueue, 'sandbox'), type: ACTIVITY, label: 'activity' },
    ];
    const descriptions = await Promise.all(
      asked.map(({ name, type }) => describeQueue(place, name, type).catch(() => undefined)),
    );
    backlog.reset();
    backlogAge.reset();
    for (const [index, stats] of descriptions.entries()) {
      const { name, label } = asked[index] as (typeof asked)[number];
      if (!stats) continue;
      backlog.set({ task_queue: name, type: label }, stats.count);
      backlogAge.set({ task_queue: name, type: label }, stats.ageSeconds);
    }
  };
  let looked = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  return () => {
    // Concurrent reads share one query.
    if (looking) return looking;
    if (performance.now() - looked < CACHE_MS) return Promise.resolve();
    looking = Promise.all([readStore(), readQueues()])
      .then(() => {
        looked = performance.now();
      })
      .finally(() => {
        looking = undefined;
      });
    return looking;
  };
}

async function describeQueue({ connection, namespace }: CensusPlace, name: string, taskQueueType: number) {
  const { stats } = await connection.withDeadline(Date.now() + WITHIN_MS, () =>
    connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name },
      taskQueueType,
      reportStats: true,
    }),
  );
  if (!stats) return undefined;
  const { approximateBacklogCount, approximateBacklogAge: age } = stats;
  const ageSeconds = Number(age?.seconds ?? 0) + (age?.nanos ?? 0) / 1e9;
  return { count: Number(approximateBacklogCount ?? 0), ageSeconds };
}
