/**
 * Measures how long store commands take, by group (store/store.ts). Measured around the port, so retries
 * within an engine are included.
 */
import { Counter, Histogram, type Registry as Metrics } from 'prom-client';
import { isRuntimeError } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/store.ts';

const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15];
/** Commands that are not measured, because they wait for others by design. */
const UNMEASURED: readonly string[] = ['awaitGrowth'];

type Command = (...values: readonly unknown[]) => unknown;

export function measureStore(metrics: Metrics, store: ThreadStore): ThreadStore {
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
