/** A program that supersedes the tail of a thread, and dies at a point of that: its arguments are a `SupersedeOrder`. */
import { DatabaseSync } from 'node:sqlite';
import type { ConnectOptions } from '../../src/client/connect.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { Supersede } from '../../src/client/supersede.ts';

/** `in`: in the transaction, with half of its statements done; `behind`: the transaction is committed, and nothing else is done. */
export type SupersedePoint = 'in' | 'behind';

export interface SupersedeOrder {
  readonly connect: Pick<ConnectOptions, 'address' | 'taskQueue' | 'projectDir'> & { readonly store: string };
  readonly threadId: string;
  readonly request: Supersede;
  readonly point: SupersedePoint;
}

const { connect, threadId, request, point } = JSON.parse(process.argv[2] as string) as SupersedeOrder;
const die = () => process.kill(process.pid, 'SIGKILL');

if (point === 'in') {
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function (sql, ...more) {
    // The messages have been copied, and are not deleted yet.
    if (/^delete from "messages"/.test(sql)) die();
    return prepare.call(this, sql, ...more);
  };
}
const client = await RuntimeClient.connect(connect);
if (point === 'behind') {
  const { messages } = client.store;
  const { supersede } = messages;
  Object.assign(messages, {
    async supersede(...given: Parameters<typeof supersede>) {
      await supersede(...given);
      die();
    },
  });
}
await client.supersede(threadId, request);
await client.close();
