/**
 * All metrics of one worker, in the text format of Prometheus (docs/production.md lists them):
 *
 *   thread-metrics   steps, tools, models, retries: counted from the events that this process writes (`label`: label
 *                    values)
 *   store-metrics    how long store commands take
 *   limiter-metrics  requests to models that wait
 *   sandbox-metrics  runs of code, and child processes
 *   census-metrics   queried on demand: the store as a whole, the backlog of the task queues
 */
import { collectDefaultMetrics, Gauge, Registry as Metrics } from 'prom-client';
import type { Registry } from '../../core/author/registry.ts';
import type { RateLimiter } from '../../models/rate-limiter.ts';
import type { Sandbox } from '../../sandbox/index.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { EventListener } from '../../store/transaction/event-record.ts';
import { type CensusPlace, takeCensusOnDemand } from './census-metrics.ts';
import { measureLimiter } from './limiter-metrics.ts';
import { measureSandbox } from './sandbox-metrics.ts';
import { measureStore } from './store-metrics.ts';
import { listenToThreads } from './thread-metrics.ts';

export interface WorkerMetrics {
  /** Returns the same store with its commands measured. */
  store(store: ThreadStore): ThreadStore;
  sandbox(sandbox: Sandbox): Sandbox;
  limiter(limiter: RateLimiter): void;
  listener(registry: () => Registry): EventListener;
  /** Includes the metrics of the whole store and of the task queues from now on. */
  watch(place: CensusPlace): void;
  /** Returns all metrics in the text format of Prometheus, version 0.0.4. */
  read(): Promise<string>;
}

export function createWorkerMetrics(): WorkerMetrics {
  const metrics = new Metrics();
  collectDefaultMetrics({ register: metrics });
  let look: (() => Promise<void>) | undefined;
  return {
    store: (store) => measureStore(metrics, store),
    limiter: (limiter) => measureLimiter(metrics, limiter),
    sandbox: (sandbox) => measureSandbox(metrics, sandbox),
    listener: (registry) => listenToThreads(metrics, registry),
    watch(place) {
      const info = new Gauge({
        name: 'everthread_worker_info',
        help: 'Always 1; the labels show what this worker serves',
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
