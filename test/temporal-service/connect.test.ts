/** What counts as an answer of a Temporal service, and which requests are repeated. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { waitForNamespace } from '../../src/temporal-service/connect.ts';
import { isUnreachable, statusCode } from '../../src/temporal-service/grpc-status.ts';

let connection: Connection;

beforeAll(async () => {
  connection = await Connection.connect({ address: process.env.TEMPORAL_ADDRESS });
});
afterAll(() => connection.close());

/** The same connection, with a deadline that has already passed for the first `times` requests. */
function late(times: number): { connection: Connection; asked: () => number } {
  let asked = 0;
  const withDeadline: Connection['withDeadline'] = (deadline, work) => {
    asked += 1;
    return connection.withDeadline(asked > times ? deadline : Date.now() - 1, work);
  };
  const get = (target: Connection, name: string | symbol) =>
    name === 'withDeadline' ? withDeadline : Reflect.get(target, name, target);
  return { connection: new Proxy(connection, { get }), asked: () => asked };
}

const FAR_AWAY = 60_000;

test('[connect] an expired deadline proves nothing about a namespace: it is requested again', async () => {
  const busy = late(2);
  await waitForNamespace(busy.connection, process.env.TEMPORAL_NAMESPACE as string, FAR_AWAY, 0);
  expect(busy.asked()).toBe(3);
});

test('[connect] an unknown namespace fails before the deadline', async () => {
  const busy = late(1);
  const error = await waitForNamespace(busy.connection, 'gone', FAR_AWAY, 0).catch((thrown) => thrown);
  expect(error).toMatchObject({
    code: 'TemporalUnavailable',
    message: expect.stringContaining('it has no namespace "gone"'),
  });
  // Two requests: the late one, and the one that was answered with NOT_FOUND.
  expect([busy.asked(), statusCode(error), isUnreachable(error)]).toEqual([2, 5, false]);
});

test('[connect] a service that stays late fails at the deadline', async () => {
  const error = await waitForNamespace(late(1_000).connection, 'gone', 120, 0).catch((thrown) => thrown);
  expect([statusCode(error), isUnreachable(error)]).toEqual([4, true]);
});
