/**
 * A process of its own on a store, for `store-processes.ts`. It says `ready` once its code is loaded, begins with `go`,
 * sends one answer, and ends.
 */
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
  /** Opens the store, says `open`, waits for `go` again, writes once, and says `turning` while that waits. */
  | { readonly do: 'wait' };

export type Answer = { readonly storeId: string };

/** More than fit between two looks of the engine at the lock, each of which blocks it for up to 50 ms. */
const TURNS = 100;

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
            await store.queue.add(threadId, message(`p${task.process}-${n}`));
            await store.queue.add(threadId, message(`shared-${n}`));
            await store.messages.inject(threadId, {
              id: `i${task.process}-${n}`,
              role: 'system',
              content: 'x',
              executionId: null,
            });
          }
        }
        return { storeId: store.id };
      case 'wait':
        await writeWhileLocked(new ThreadDriver(store));
        return { storeId: store.id };
    }
  } finally {
    await store.close();
  }
}

/** Says `turning` once its event loop has come round so often while the write waits: a process that blocks never does. */
async function writeWhileLocked(thread: ThreadDriver): Promise<void> {
  process.send?.('open');
  await told('go');
  const written = thread.open();
  for (let turn = 0; turn < TURNS; turn++) await sleep(5);
  process.send?.('turning');
  await written;
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
