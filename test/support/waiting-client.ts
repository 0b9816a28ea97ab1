/**
 * A client in a separate process, for a test that shifts its clock: waits for a thread, and reports on standard output.
 */
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { openStore } from '../../src/store/open-store.ts';

const { folder, taskQueue, thread } = JSON.parse(process.env.EVERTHREAD_WAIT as string);

const opened = await openStore('sqlite:store.db?synchronous=normal', folder);
const told = Date.now();
let looks = 0;
const store: typeof opened = {
  ...opened,
  threads: {
    ...opened.threads,
    get(threadId) {
      // The second read after the clock has jumped: the client has checked once, and has not given up.
      if (Date.now() - told > 60 * 60 * 1000 && ++looks === 2) console.log('looked again');
      return opened.threads.get(threadId);
    },
  },
};
const client = await RuntimeClient.connect({ store, taskQueue });
console.log('waiting');
await client.waitForIdle(thread, { timeoutMs: 180_000 }).then(
  ({ status }) => console.log(status),
  ({ code }) => console.log(code),
);
await client.close();
await opened.close();
