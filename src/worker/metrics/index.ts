/**
 * Figures of a worker in the text format of Prometheus (docs/production.md lists them). `worker-metrics` puts them together:
 *
 *   label           names that may become labels
 *   thread-metrics  steps, tools, models, retries: counted from what this process writes into the logs of its threads
 *   store-metrics   how long commands of the store take
 *   sandbox-metrics runs of code, and its processes
 *   census-metrics  what is asked when somebody looks: the store as a whole, the backlog of the task queues
 */
export { createWorkerMetrics, type WorkerMetrics } from './worker-metrics.ts';
