/**
 * A separate process on a store, for `store-processes.ts`. It sends `ready` once its code is loaded, starts on `go`,
 * sends one answer, and exits.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../src/store/open-store.ts';
import { message, openThread, ThreadDriver } from './thread-driver.ts';

export type Task =
  | { readonly do: 'open' }
  /** Writes `writes` times to each thread, under ids of this process and under ids that all processes share. */
  | {
      readonly do: 'write';
      readonly process: number;
      readonly writes: number;
      readonly threadIds: readonly string[];
    }
  /** Opens the store, sends `open`, waits for `go` again, writes once, and sends `turning` while that write waits. */
  | { readonly do: 'wait' };

export type Answer = { readonly storeId: string };

/** More turns than fit between two attempts of the engine to take the lock, each of which blocks it for up to 50 ms. */
const TURNS = 100;

const [address = '', folder = '', text = ''] = process.argv.slice(2);
const task = JSON.parse(text) as Task;

async function perform(): Promise<Answer> {
  const store = await openStore(address, folder);
  try {
    switch (task.do) {
      case 'open':
        // A store that could be opened has its whole schema.
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

/** Sends `turning` after so many turns of the event loop while the write waits; a blocked process never would. */
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
