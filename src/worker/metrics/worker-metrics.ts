/**
 * All metrics of one worker, in the text format of Prometheus (docs/production.md lists them):
 *
 *   thread-metrics   steps, tools, models, retries: counted from the events that this process writes, into
 *                    `thread-counters` and, for OpenTelemetry, `otel-sink`
 *   here             how long store commands take; requests to models that wait; runs of code, and child processes
 *   census-metrics   queried on demand: the store as a whole, the backlog of the task queues
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry as Metrics } from 'prom-client';
import { isRuntimeError } from '../../core/value/error.ts';
import type { ModelLoad, RateLimiter } from '../../models/rate-limiter.ts';
import type { Sandbox } from '../../sandbox/index.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { EventListener } from '../../store/transaction/event-record.ts';
import type { SpanCounter } from '../telemetry/telemetry.ts';
import { type CensusPlace, takeCensusOnDemand } from './census-metrics.ts';
import { flushOtel } from './otel-sink.ts';
import { listenToThreads, type ThreadMetricsPorts } from './thread-metrics.ts';

export interface WorkerMetrics {
  /** Returns the same store with its commands measured. */
  store(store: ThreadStore): ThreadStore;
  sandbox(sandbox: Sandbox): Sandbox;
  limiter(limiter: RateLimiter): void;
  listener(ports: ThreadMetricsPorts): EventListener;
  readonly countSpans: SpanCounter;
  /** Lets an OpenTelemetry SDK export what was recorded; takes two seconds at most. */
  close(): Promise<void>;
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
    countSpans: countSpans(metrics),
    close: flushOtel,
    listener: (ports) => listenToThreads(metrics, ports),
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

function countSpans(metrics: Metrics): SpanCounter {
  const spans = new Counter({
    name: 'everthread_spans_total',
    help: 'Spans given to the OpenTelemetry SDK; outcome dropped: it could not export them, or not in time',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  for (const outcome of ['exported', 'dropped']) spans.inc({ outcome }, 0);
  return (outcome, count) => spans.inc({ outcome }, count);
}

/** Metrics of the rate limiter: requests to models that are under way, those that wait, and how many may run at once. */

/** Lines of one model differ in their keys: their requests are added up, and the smallest limit is shown. */
function measureLimiter(metrics: Metrics, limiter: RateLimiter): void {
  const gauge = (
    name: string,
    help: string,
    add: (known: number, load: ModelLoad) => number,
    first: number,
  ) =>
    new Gauge({
      name: `everthread_model_${name}`,
      help,
      labelNames: ['model'],
      registers: [metrics],
      collect() {
        this.reset();
        const models = new Map<string, number>();
        for (const load of limiter.list()) models.set(load.model, add(models.get(load.model) ?? first, load));
        for (const [model, value] of models) this.set({ model }, value);
      },
    });
  gauge('requests_running', 'Requests to models under way', (sum, { running }) => sum + running, 0);
  gauge('requests_waiting', 'Steps that wait for their model', (sum, { waiting }) => sum + waiting, 0);
  gauge(
    'concurrency_limit',
    'Requests to a model that may be under way at once; +Inf if nothing limits them',
    (least, { limit }) => Math.min(least, limit),
    Number.POSITIVE_INFINITY,
  );
}

/** Metrics of the sandbox: ended runs by status (`memory`: killed for exceeding its memory), and child processes. */
function measureSandbox(metrics: Metrics, sandbox: Sandbox): Sandbox {
  const registers = [metrics];
  const runs = new Counter({
    name: 'everthread_sandbox_runs_total',
    help: 'Programs that have ended; status memory: ended for exceeding their memory',
    labelNames: ['status'],
    registers,
  });
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `everthread_sandbox_${name}`,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge('children', 'Child processes, including idle ones', () => sandbox.figures().children);
  gauge('running', 'Running programs', () => sandbox.figures().running);
  gauge('waiting', 'Programs waiting for a slot', () => sandbox.figures().waiting);
  // Every status has a series from the start, so that dashboards show 0 before the first such end.
  for (const status of ['success', 'error', 'link_error', 'memory', 'terminated']) runs.inc({ status }, 0);
  return {
    ...sandbox,
    scope(options) {
      const scope = sandbox.scope(options);
      return {
        ...scope,
        runCode: (source, given) => {
          const execution = scope.runCode(source, given);
          execution.then(
            ({ status }) => runs.inc({ status }),
            () => undefined,
          );
          return execution;
        },
      };
    },
  };
}

/**
 * Measures how long store commands take, by group (store/store.ts). Measured around the port, so retries
 * within an engine are included.
 */
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15];
/** Commands that are not measured, because they wait for others by design. */
const UNMEASURED: readonly string[] = ['awaitGrowth'];

type Command = (...values: readonly unknown[]) => unknown;

function measureStore(metrics: Metrics, store: ThreadStore): ThreadStore {
  const registers = [metrics];
  const time = new Histogram({
    name: 'everthread_store_command_duration_seconds',
    help: 'Commands of the store, by what they store',
    labelNames: ['store'],
    buckets: BUCKETS,
    registers,
  });
  const failures = new Counter({
    name: 'everthread_store_failures_total',
    help: 'Commands that failed because of the store itself: StoreUnavailable, StoreFull, StoreLost, StoreCorrupt',
    labelNames: ['code'],
    registers,
  });
  // 0 before the first: `increase()` does not count what a series begins with.
  for (const code of ['StoreUnavailable', 'StoreFull', 'StoreLost', 'StoreCorrupt'])
    failures.inc({ code }, 0);
  const measured = (group: string, command: Command): Command => {
    return (...values) => {
      const end = time.startTimer({ store: group });
      const answer = command(...values);
      if (!(answer instanceof Promise)) return answer;
      return answer.then(
        (value) => {
          end();
          return value;
        },
        (error: unknown) => {
          end();
          if (isRuntimeError(error) && error.code.startsWith('Store')) failures.inc({ code: error.code });
          throw error;
        },
      );
    };
  };
  const entries = Object.entries(store).map(([group, commands]) => {
    if (typeof commands !== 'object' || commands === null || commands instanceof AbortSignal)
      return [group, commands] as const;
    const wrapped = Object.entries(commands as Record<string, unknown>).map(([name, command]) =>
      typeof command === 'function' && !UNMEASURED.includes(name)
        ? ([name, measured(group, command as Command)] as const)
        : ([name, command] as const),
    );
    return [group, Object.fromEntries(wrapped)] as const;
  });
  return { ...store, ...(Object.fromEntries(entries) as unknown as ThreadStore) };
}
