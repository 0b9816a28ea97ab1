/** The executions of a thread over HTTP: a story can begin at any of them. */
import { describe, expect, it } from '@jest/globals';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { testRuntime } from '../support/runtime.ts';

interface Listed {
  readonly id: string;
  readonly firstSeq: number;
}

describe('/v1/threads/{threadId}/executions', () => {
  it('lists the executions of a thread, latest first, page by page, each with its first event', async () => {
    const model = scriptedModel(({ messages }) => says(`re: ${messages.at(-1)?.content}`));
    const runtime = await testRuntime({ model });
    const api = await testApi(runtime);
    const thread = await runtime.start('one');
    await runtime.say(thread, 'two');
    await runtime.say(thread, 'three');
    const other = await runtime.start('elsewhere');
    const path = `/v1/threads/${thread}/executions`;
    const { executions } = (await api.call('GET', path)).body as { executions: Listed[] };
    expect(executions).toHaveLength(3);
    const events = await runtime.store.events.read(thread, 0, 1000);
    for (const { id, firstSeq } of executions)
      expect(events[firstSeq - 1]).toMatchObject({ type: 'execution.started', data: { executionId: id } });
    expect(executions.map(({ firstSeq }) => firstSeq)).toEqual(
      executions.map(({ firstSeq }) => firstSeq).toSorted((a, b) => b - a),
    );
    expect(executions[0]).toEqual({
      id: expect.any(String),
      agent: 'helper',
      status: 'completed',
      reason: 'stop_on_response',
      startedAt: expect.any(Number),
      endedAt: expect.any(Number),
      firstSeq: expect.any(Number),
    });
    const [first, second] = executions;
    const page = await api.call('GET', `${path}?limit=1&before=${first?.id}`);
    expect(page.body).toEqual({ executions: [second] });
    const [strange] = (
      (await api.call('GET', `/v1/threads/${other}/executions`)).body as { executions: Listed[] }
    ).executions;
    expect(await api.call('GET', `${path}?before=${strange?.id}`)).toMatchObject({
      status: 404,
      body: { code: 'ExecutionNotFound' },
    });
  });

  it('lets a story begin at an execution: the same rows as in the whole story', async () => {
    const model = scriptedModel([says('first'), calls('nowhere'), says('second')]);
    const runtime = await testRuntime({ model });
    const api = await testApi(runtime);
    const thread = await runtime.start('one');
    await runtime.say(thread, 'two');
    const [latest] = (
      (await api.call('GET', `/v1/threads/${thread}/executions`)).body as { executions: Listed[] }
    ).executions;
    const path = `/v1/threads/${thread}/events?as=story&limit=1000`;
    const whole = (await api.call('GET', path)).body.events as { seq: number }[];
    const begin = (latest as Listed).firstSeq;
    const rest = (await api.call('GET', `${path}&after=${begin - 1}.999999999`)).body.events as object[];
    expect(rest.length).toBeGreaterThan(4);
    expect(rest).toEqual(whole.filter(({ seq }) => seq >= begin));
    expect(rest[0]).toMatchObject({
      seq: begin,
      type: 'execution.started',
      kind: 'status',
      line: 'A turn begins.',
    });
  });
});
