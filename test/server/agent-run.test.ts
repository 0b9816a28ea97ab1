/**
 * Executions under an id chosen by their sender, over real HTTP: begun, attached to, replayed, from this process and
 * another.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { HttpClient } from '../../src/client/http/http-client.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { type BoxEvent, remoteBox } from '../../src/faces/tangle/box/remote-box.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { collect } from '../projections/golden.ts';
import { type TestApi, testApi } from '../support/api.ts';
import { cuttingProxy } from '../support/cutting-proxy.ts';
import { testRuntime } from '../support/runtime.ts';

const typesOf = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);
const textOf = (events: readonly BoxEvent[]) =>
  events.map((event) => (event.type === 'message.part.updated' ? event.data.delta : '')).join('');
const boxOf = ({ url }: Pick<TestApi, 'url'>, patienceMs?: number) =>
  remoteBox({ url, agent: 'helper', ...(patienceMs === undefined ? {} : { patienceMs }) });

/** A tool that ends when `letOn` is called. */
function gated() {
  const gate = Promise.withResolvers<void>();
  const tool = defineTool({
    description: 'looks',
    async execute() {
      await gate.promise;
      return { status: 'success', result: 'seen' };
    },
  });
  return { tool, letOn: () => gate.resolve() };
}

describe('/agents/run/stream', () => {
  it('[TG-17] the same id attaches while it runs and replays after: one model call, the same events', async () => {
    const { tool, letOn } = gated();
    const runtime = await testRuntime({
      model: scriptedModel([calls('look', { at: 1 }), says('It is there.')]),
      tools: { look: tool },
    });
    const box = boxOf(await testApi(runtime));
    const executionId = `p:${randomUUID()}:0`;
    const begun = Promise.withResolvers<void>();
    const reading = async () => {
      const told: BoxEvent[] = [];
      for await (const event of box.streamPrompt('look', { executionId })) {
        told.push(event);
        if (event.type === 'tool_call') begun.resolve();
      }
      return told;
    };
    const both = Promise.all([reading(), reading()]);
    await begun.promise;
    const attached = collect(box.attach(executionId));
    letOn();
    const [first, second] = await both;
    expect(second).toEqual(first);
    expect(await attached).toEqual(first);
    expect(await reading()).toEqual(first);
    expect(first[0]).toMatchObject({ type: 'execution.started', data: { executionId } });
    expect(typesOf(first).filter((type) => type !== 'message.part.updated')).toEqual([
      'execution.started',
      'message.started',
      'llm_call',
      'tool_call',
      'tool_result',
      'message.started',
      'llm_call',
      'result',
      'execution.completed',
    ]);
    expect(textOf(first)).toBe('It is there.');
    expect(first.find(({ type }) => type === 'tool_call')?.data).toMatchObject({
      toolName: 'look',
      args: { at: 1 },
    });
  });

  it('[TG-16] a reader that reconnects with its last id gets the events after it, each once', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('one two three four')]) });
    const api = await testApi(runtime);
    const box = boxOf(api);
    const executionId = `p:${randomUUID()}:0`;
    const all = await collect(box.streamPrompt('count', { executionId }));
    for (const [n, { id }] of all.slice(0, -1).entries())
      expect(await collect(box.attach(executionId, { lastEventId: id }))).toEqual(all.slice(n + 1));
    // Server-sent events carry the same events; the last id is sent in a header.
    const response = await fetch(`${api.url}/agents/run/stream`, {
      method: 'POST',
      headers: { 'x-execution-id': executionId, 'last-event-id': all[1]?.id ?? '' },
    });
    expect(response.headers.get('x-execution-id')).toBe(executionId);
    const frames = (await response.text()).split('\n\n').filter((frame) => frame.startsWith('id:'));
    expect(frames).toEqual(
      all.slice(2).map(({ id, ...event }) => `id: ${id}\ndata: ${JSON.stringify(event)}`),
    );
  });

  it('[TG-16] a reader whose connection is cut repeatedly gets every event once', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('one two three four five six')]) });
    const api = await testApi(runtime);
    const proxy = await cuttingProxy(api.url);
    proxy.cut(1, 300, 420, 555, 700, 811);
    const executionId = `p:${randomUUID()}:0`;
    const told = await collect(boxOf(proxy).streamPrompt('count', { executionId }));
    expect(told).toEqual(await collect(boxOf(api).attach(executionId)));
    expect(textOf(told)).toBe('one two three four five six');
    expect(proxy.cuts).toBeGreaterThan(2);
  });

  it('returns the same log from every endpoint', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('Hello!')]) });
    const api = await testApi(runtime);
    const sessionId = randomUUID();
    const told = await collect(boxOf(api).streamPrompt('hi', { sessionId, executionId: `p:${sessionId}:0` }));
    const expected = told.map(({ id: cursor, ...event }) => ({ cursor, event }));
    await runtime.client.waitForIdle(sessionId);
    const reading = { as: 'tangle', follow: false } as const;
    expect(await collect(runtime.client.events(sessionId, reading))).toEqual(expected);
    const http = await HttpClient.connect({ url: api.url });
    expect(await collect(http.events(sessionId, reading))).toEqual(expected);
    await http.close();
    const page = await api.call('GET', `/v1/threads/${sessionId}/events?as=tangle`);
    expect(page.body.events).toEqual(expected.map(({ event }) => event));
  });

  it('[TG-18] another prompt under the same id is a conflict and starts nothing', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('Yes.')]) });
    const box = boxOf(await testApi(runtime));
    const executionId = `p:${randomUUID()}:0`;
    const first = await collect(box.streamPrompt('this', { executionId }));
    await expect(collect(box.streamPrompt('that', { executionId }))).rejects.toMatchObject({
      code: 'ExecutionConflict',
    });
    await expect(
      collect(box.streamPrompt('this', { executionId, sessionId: randomUUID() })),
    ).rejects.toMatchObject({ code: 'ExecutionConflict' });
    expect(await collect(box.streamPrompt('this', { executionId }))).toEqual(first);
  });

  it('answers execution_not_found if the id to attach to is unknown', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const api = await testApi(runtime);
    const executionId = `p:${randomUUID()}:0`;
    const answer = await api.call('POST', '/agents/run/stream', undefined, { 'x-execution-id': executionId });
    expect([answer.status, answer.body]).toEqual([
      404,
      expect.objectContaining({ code: 'ExecutionNotFound', error: 'execution_not_found', executionId }),
    ]);
    await expect(collect(boxOf(api).attach(executionId))).rejects.toMatchObject({
      code: 'ExecutionNotFound',
    });
    for (const [body, headers] of [
      [{}, {}],
      [{ message: 'hi' }, { 'x-execution-id': 'with a space' }],
      [{ messages: [{ role: 'assistant', content: 'x' }], agent: 'helper' }, { 'x-execution-id': 'a' }],
    ] as const)
      expect(await api.call('POST', '/agents/run/stream', body, headers)).toMatchObject({
        status: 400,
        body: { code: 'InvalidRequest' },
      });
    expect(
      await api.call('POST', '/agents/run/stream', { message: 'hi', sessionId: randomUUID() }),
    ).toMatchObject({ status: 404, body: { code: 'ThreadNotFound' } });
  });

  it('attaches to a queued execution before it begins, and streams it once it has begun', async () => {
    const { tool, letOn } = gated();
    const runtime = await testRuntime({
      model: scriptedModel([calls('look'), says('First.'), says('Second.')]),
      tools: { look: tool },
    });
    const box = boxOf(await testApi(runtime));
    const sessionId = randomUUID();
    const ids = [`p:${sessionId}:0`, `p:${sessionId}:1`] as const;
    const first = box.streamPrompt('one', { executionId: ids[0], sessionId });
    const told = [(await first.next()).value];
    // The second execution is sent, and attached to from elsewhere, while the first one runs.
    await runtime.client.queueMessage(sessionId, { content: 'two', executionId: ids[1] });
    const second = collect(box.attach(ids[1]));
    letOn();
    told.push(...(await collect(first)));
    expect(textOf((await second) as BoxEvent[])).toBe('Second.');
    expect((await second)[0]).toMatchObject({ type: 'execution.started', data: { executionId: ids[1] } });
  });

  it('lets a read-only token attach, but not start an execution', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('Hello!')]) });
    const open = await testApi(runtime);
    const api = await testApi(runtime, {
      access: async () => ({ name: 'eve', scopes: ['read'], userId: null }),
    });
    const executionId = `p:${randomUUID()}:0`;
    const first = await collect(boxOf(open).streamPrompt('hi', { executionId }));
    expect(await collect(boxOf(api).attach(executionId))).toEqual(first);
    await expect(collect(boxOf(api).streamPrompt('hi', { executionId }))).rejects.toMatchObject({
      code: 'Forbidden',
    });
    const stranger = await testApi(runtime, {
      access: async () => ({ name: 'mallory', scopes: ['read', 'write'], userId: 'mallory' }),
    });
    await expect(collect(boxOf(stranger).attach(executionId))).rejects.toMatchObject({
      code: 'ExecutionNotFound',
    });
  });
});
