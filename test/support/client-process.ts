/** A program that forks a thread or supersedes its tail, and may die at a point of that: its argument is a `ClientOrder`. */
import { DatabaseSync } from 'node:sqlite';
import type { ConnectOptions } from '../../src/client/connect.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { ForkThread } from '../../src/client/start-options.ts';
import type { Supersede } from '../../src/client/supersede.ts';

/**
 * `in`: in the transaction, with the messages copied and nothing else done; `behind`: the transaction is committed, and
 * nothing else is done. Without a point the program says `ready`, and can be killed at any time behind that.
 */
export type DeathPoint = 'in' | 'behind';

export interface ClientOrder {
  readonly connect: Pick<ConnectOptions, 'address' | 'taskQueue' | 'projectDir'> & { readonly store: string };
  readonly threadId: string;
  readonly point?: DeathPoint;
  readonly request: { readonly fork: ForkThread } | { readonly supersede: Supersede };
}

const { connect, threadId, request, point } = JSON.parse(process.argv[2] as string) as ClientOrder;
const die = () => process.kill(process.pid, 'SIGKILL');

if (point === 'in') {
  const next = 'fork' in request ? /^insert into "thread_values"/ : /^delete from "messages"/;
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function (sql, ...more) {
    if (next.test(sql)) die();
    return prepare.call(this, sql, ...more);
  };
}
const client = await RuntimeClient.connect(connect);
if (point === 'behind') {
  const { threads, messages } = client.store;
  const dieBehind =
    <Given extends unknown[]>(command: (...given: Given) => Promise<unknown>) =>
    async (...given: Given) => {
      await command(...given);
      die();
    };
  Object.assign(threads, { fork: dieBehind(threads.fork) });
  Object.assign(messages, { supersede: dieBehind(messages.supersede) });
}
if (!point) process.stdout.write('ready\n');
if ('fork' in request) await client.forkThread(threadId, request.fork);
else await client.supersede(threadId, request.supersede);
await client.close();
