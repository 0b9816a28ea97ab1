/**
 * A process of its own on a store, for `store-processes.ts`. It says `ready` once its code is loaded, begins with `go`,
 * sends one answer, and ends.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../src/store/open-store.ts';
import { message, openThread, ThreadDriver } from './thread-driver.ts';

export type Task =
  | { readonly do: 'open' }
  /** `writes` on each of the threads, under the process's own name and under names that all processes share. */
  | {
      readonly do: 'write';
      readonly process: number;
      readonly writes: number;
      readonly threadIds: readonly string[];
    }
  /** Opens the store, says `open`, waits for `go` again, and writes once, watching its own event loop. */
  | { readonly do: 'wait' };

export type Answer = { readonly storeId: string; readonly blockedMs?: number; readonly tookMs?: number };

const [address = '', folder = '', text = ''] = process.argv.slice(2);
const task = JSON.parse(text) as Task;

async function perform(): Promise<Answer> {
  const store = await openStore(address, folder);
  try {
    switch (task.do) {
      case 'open':
        // The schema is there, whole, for whoever has been told that the store is open.
        await openThread(store);
        return { storeId: store.id };
      case 'write':
        for (let n = 0; n < task.writes; n++) {
          for (const threadId of task.threadIds) {
            await store.queueItem(threadId, message(`p${task.process}-${n}`));
            await store.queueItem(threadId, message(`shared-${n}`));
            await store.injectMessage(threadId, {
              id: `i${task.process}-${n}`,
              role: 'system',
              content: 'x',
              executionId: null,
            });
          }
        }
        return { storeId: store.id };
      case 'wait':
        return { storeId: store.id, ...(await writeWhileLocked(new ThreadDriver(store))) };
    }
  } finally {
    await store.close();
  }
}

async function writeWhileLocked(thread: ThreadDriver): Promise<{ blockedMs: number; tookMs: number }> {
  process.send?.('open');
  await told('go');
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  // The monitor is a timer: it has to run before, and once more behind, or a single long block goes unseen.
  await sleep(20);
  const begin = performance.now();
  await thread.open();
  const tookMs = performance.now() - begin;
  await sleep(20);
  delay.disable();
  return { blockedMs: delay.max / 1e6, tookMs };
}

async function told(word: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const listen = (said: unknown) => {
    if (said === word) resolve();
  };
  process.on('message', listen);
  await promise;
  process.off('message', listen);
}

process.send?.('ready');
await told('go');
process.send?.(await perform());
process.disconnect();
