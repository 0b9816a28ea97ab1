/** Tasks over HTTP. */
import { describe, expect, it } from '@jest/globals';
import type { ThreadsClient } from '../../src/client/index.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { defineTask } from '../../src/definitions/index.ts';
import { testApi } from '../support/api.ts';
import { closeAfterTest } from '../support/runtime.ts';
import { taskRuntime } from '../tasks/task-runtime.ts';

const asking = defineTask<number, string>({
  observe: ({ history }) => history.length,
  decide: ({ stepIndex, history }) =>
    stepIndex === 0
      ? { kind: 'ask', question: 'Which?' }
      : { kind: 'stop', pass: true, reason: 'asked', outcome: history[0]?.actionOutcome?.result },
});

describe('the tasks of the client over HTTP', () => {
  it('return the records, answers and errors of the client on the store', async () => {
    const runtime = await taskRuntime({ asking });
    const api = await testApi(runtime);
    const http = await RuntimeClient.connect({ url: api.url, patienceMs: 120_000 });
    closeAfterTest(() => http.close());
    const { id } = await http.tasks.start({ task: 'asking', inputs: { a: 1 } });
    const following = http.tasks.events(id, { openWithinMs: 120_000 })[Symbol.asyncIterator]();
    expect((await following.next()).value).toMatchObject({ event: { type: 'task_start' } });
    expect(await http.tasks.wait(id, { timeoutMs: 120_000 })).toMatchObject({ id, status: 'waiting' });
    const [wait] = await http.listWaits({ threadId: `task/${id}` });
    expect(await http.answerWait(wait?.id ?? '', { value: 'this' })).toEqual({ outcome: 'taken' });
    const live = [];
    for (let next = await following.next(); !next.done; next = await following.next()) live.push(next.value);
    expect(live.at(-1)).toMatchObject({ event: { type: 'final', status: 'completed' } });
    const last = await http.tasks.get(id);
    const { id: other } = await http.tasks.start({ task: 'asking' });
    await http.tasks.wait(other, { timeoutMs: 120_000 });
    const [first] = live;
    const asked: Readonly<Record<string, (client: ThreadsClient) => Promise<unknown>>> = {
      get: ({ tasks }) => tasks.get(id),
      'get of none': ({ tasks }) => tasks.get('none'),
      list: ({ tasks }) => tasks.list({ name: 'asking', status: 'completed', limit: 1 }),
      'list behind one': ({ tasks }) =>
        tasks.list({ name: 'asking', before: { ...last, createdAt: last.createdAt + 1 } }),
      listSteps: ({ tasks }) => tasks.listSteps(id, 1),
      events: ({ tasks }) => listed(tasks.events(id)),
      'events behind a cursor': ({ tasks }) => listed(tasks.events(id, { after: first?.cursor ?? '' })),
      'events so far': ({ tasks }) => listed(tasks.events(other, { follow: false })),
      'events behind no cursor': ({ tasks }) => listed(tasks.events(id, { after: 'no' })),
      'events of none': ({ tasks }) => listed(tasks.events('none')),
      'start of the same': ({ tasks }) => tasks.start({ id, task: 'asking', inputs: { a: 1 } }),
      'start with other words': ({ tasks }) => tasks.start({ id, task: 'asking', inputs: { a: 2 } }),
      'start of nothing': ({ tasks }) => tasks.start({ id, task: 'asking', intent: '' }),
      'abort of one that is over': ({ tasks }) => tasks.abort(id),
      'abort of none': ({ tasks }) => tasks.abort('none'),
      'wait of one that is over': ({ tasks }) => tasks.wait(id),
      'wait in vain': ({ tasks }) => tasks.wait('none', { timeoutMs: 1 }),
    };
    const outcome = (client: ThreadsClient, ask: (client: ThreadsClient) => Promise<unknown>) =>
      ask(client).then(
        (value) => ({ value }),
        ({ code, message }) => ({ code, message }),
      );
    for (const [name, ask] of Object.entries(asked))
      expect([name, await outcome(http, ask)]).toEqual([name, await outcome(runtime.client, ask)]);
    await http.tasks.abort(other, 'not today');
    await listed(http.tasks.events(other));
    expect(await http.tasks.get(other)).toMatchObject({
      status: 'aborted',
      verdict: { reason: 'not today' },
    });
  });
});

async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('/v1/tasks', () => {
  it('starts, lists, reads and answers a task, and resumes its stream from any cursor', async () => {
    const runtime = await taskRuntime({ asking });
    const api = await testApi(runtime);
    const { status, body } = await api.call('POST', '/v1/tasks', {
      task: 'asking',
      id: 'over-http',
      inputs: { a: 1 },
    });
    expect([status, body]).toEqual([201, { id: 'over-http' }]);
    await runtime.client.tasks.wait('over-http');
    const again = await api.call('POST', '/v1/tasks', { task: 'asking', id: 'over-http', inputs: { a: 2 } });
    expect([again.status, again.body.code]).toEqual([409, 'ExecutionConflict']);
    const listed = await api.call('GET', '/v1/tasks?status=waiting&name=asking');
    expect(listed.body.tasks).toEqual(expect.arrayContaining([expect.objectContaining({ id: 'over-http' })]));
    const waits = await api.call('GET', '/v1/waits?threadId=task%2Fover-http');
    const [{ id: wait }] = waits.body.waits;
    expect((await api.call('POST', `/v1/waits/${wait}/answer`, { value: 'this' })).body).toEqual({
      outcome: 'taken',
    });
    const told = [];
    for await (const { event } of runtime.client.tasks.events('over-http')) told.push(event);
    expect((await api.call('GET', '/v1/tasks/over-http')).body).toMatchObject({
      status: 'completed',
      verdict: { outcome: 'this' },
    });
    expect((await api.call('GET', '/v1/tasks/over-http/steps?from=1')).body.steps).toMatchObject([
      { step: 1 },
    ]);
    const { events } = (await api.call('GET', '/v1/tasks/over-http/events')).body;
    expect(events.map(({ event }: { event: unknown }) => event)).toEqual(told);
    const { cursor } = events[3];
    const rest = (await api.call('GET', `/v1/tasks/over-http/events?after=${cursor}`)).body;
    expect(rest.events).toEqual(events.slice(4));
    expect((await api.call('POST', '/v1/tasks/over-http/abort', {})).status).toBe(202);
    const nobody = await api.call('GET', '/v1/tasks/nobody');
    expect([nobody.status, nobody.body.code]).toEqual([404, 'TaskNotFound']);
  });
});
