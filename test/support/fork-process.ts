/** A program that forks a thread, and may die at a point of that: its arguments are a `ForkOrder`. */
import { DatabaseSync } from 'node:sqlite';
import type { ConnectOptions } from '../../src/client/connect.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { ForkThread } from '../../src/client/start-options.ts';

/**
 * `in`: in the transaction, with the messages copied; `behind`: the transaction is committed, and nothing is sent.
 * Without a point the program says `ready`, and can be killed at any time behind that.
 */
export type ForkPoint = 'in' | 'behind';

export interface ForkOrder {
  readonly connect: Pick<ConnectOptions, 'address' | 'taskQueue' | 'projectDir'> & { readonly store: string };
  readonly threadId: string;
  readonly request: ForkThread;
  readonly point?: ForkPoint;
}

const { connect, threadId, request, point } = JSON.parse(process.argv[2] as string) as ForkOrder;
const die = () => process.kill(process.pid, 'SIGKILL');

if (point === 'in') {
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function (sql, ...more) {
    if (/^insert into "thread_values"/.test(sql)) die();
    return prepare.call(this, sql, ...more);
  };
}
const client = await RuntimeClient.connect(connect);
if (point === 'behind') {
  const { threads } = client.store;
  const { fork } = threads;
  Object.assign(threads, {
    async fork(...given: Parameters<typeof fork>) {
      await fork(...given);
      die();
    },
  });
}
if (!point) process.stdout.write('ready\n');
await client.forkThread(threadId, request);
await client.close();
