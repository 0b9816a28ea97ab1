/**
 * The figures of one worker, in the text format of Prometheus (docs/production.md lists them), put together:
 *
 *   thread-metrics   steps, tools, models, retries: counted from what this process writes into the logs of its threads (`label`: their names)
 *   store-metrics    how long commands of the store take
 *   sandbox-metrics  runs of code, and its processes
 *   census-metrics   what is asked when somebody looks: the store as a whole, the backlog of the task queues
 */
import { collectDefaultMetrics, Gauge, Registry as Metrics } from 'prom-client';
import type { Registry } from '../../core/author/definition.ts';
import type { Sandbox } from '../../sandbox/index.ts';
import type { EventListener, ThreadStore } from '../../store/port/thread-store.ts';
import { type CensusPlace, takeCensusOnDemand } from './census-metrics.ts';
import { measureSandbox } from './sandbox-metrics.ts';
import { measureStore } from './store-metrics.ts';
import { listenToThreads } from './thread-metrics.ts';

export interface WorkerMetrics {
  /** The same, measured. */
  store(store: ThreadStore): ThreadStore;
  sandbox(sandbox: Sandbox): Sandbox;
  listener(registry: () => Registry): EventListener;
  /** From now on the figures of the store and of the task queues are among them. */
  watch(place: CensusPlace): void;
  /** In the text format of Prometheus, version 0.0.4. */
  read(): Promise<string>;
}

export function createWorkerMetrics(): WorkerMetrics {
  const metrics = new Metrics();
  collectDefaultMetrics({ register: metrics });
  let look: (() => Promise<void>) | undefined;
  return {
    store: (store) => measureStore(metrics, store),
    sandbox: (sandbox) => measureSandbox(metrics, sandbox),
    listener: (registry) => listenToThreads(metrics, registry),
    watch(place) {
      const info = new Gauge({
        name: 'everthread_worker_info',
        help: 'Always 1: what this worker serves',
        labelNames: ['store', 'task_queue', 'namespace'],
        registers: [metrics],
      });
      const { taskQueue: task_queue, namespace } = place;
      info.set({ store: (place.store as ThreadStore).id, task_queue, namespace }, 1);
      look = takeCensusOnDemand(metrics, place);
    },
    async read() {
      await look?.();
      return metrics.metrics();
    },
  };
}
