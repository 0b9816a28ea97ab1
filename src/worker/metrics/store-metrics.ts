/** How long commands of the store take, by what they keep (store/port/thread-store.ts): measured round the port, so with whatever an engine repeats. */
import { Counter, Histogram, type Registry as Metrics } from 'prom-client';
import { isRuntimeError } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/port/thread-store.ts';

const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15];
/** What waits for others is not slow. */
const WAITS: readonly string[] = ['awaitGrowth'];

type Command = (...values: readonly unknown[]) => unknown;

export function measureStore(metrics: Metrics, store: ThreadStore): ThreadStore {
  const registers = [metrics];
  const time = new Histogram({
    name: 'everthread_store_command_duration_seconds',
    help: 'Commands of the store, by what they keep',
    labelNames: ['store'],
    buckets: BUCKETS,
    registers,
  });
  const failures = new Counter({
    name: 'everthread_store_failures_total',
    help: 'Commands of the store that the store itself could not do: StoreUnavailable, StoreFull, StoreLost, StoreCorrupt',
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
      typeof command === 'function' && !WAITS.includes(name)
        ? ([name, measured(group, command as Command)] as const)
        : ([name, command] as const),
    );
    return [group, Object.fromEntries(wrapped)] as const;
  });
  return { ...store, ...(Object.fromEntries(entries) as unknown as ThreadStore) };
}
