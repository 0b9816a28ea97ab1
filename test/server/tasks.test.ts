/** Tasks over HTTP. */
import { describe, expect, it } from '@jest/globals';
import { defineTask } from '../../src/definitions/index.ts';
import { testApi } from '../support/api.ts';
import { taskRuntime } from '../tasks/task-runtime.ts';

const asking = defineTask<number, string>({
  observe: ({ history }) => history.length,
  decide: ({ stepIndex, history }) =>
    stepIndex === 0
      ? { kind: 'ask', question: 'Which?' }
      : { kind: 'stop', pass: true, reason: 'asked', outcome: history[0]?.actionOutcome?.result },
});

describe('/v1/tasks', () => {
  it('starts, lists, reads and answers a task, and its stream goes on behind any cursor', async () => {
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
