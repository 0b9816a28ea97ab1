/** A `traceparent` that comes with a request, or in a context: joined with a token or a setting, else a link. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { defineA2aAgent, defineTool } from '../../src/definitions/index.ts';
import { createApi, tokenAccess } from '../../src/server/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { type OtlpReceiver, type OtlpSpan, onceEach } from '../support/otlp-receiver.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { endTelemetry, openReceiver, startSdk } from '../support/telemetry.ts';

afterEach(endTelemetry);

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const HEADER = `00-${TRACE}-${SPAN}-01`;
const TOKEN = 'a-token-of-this-test';

const agents = ({ spans }: OtlpReceiver) =>
  onceEach(spans).filter(({ name }) => name.startsWith('invoke_agent'));

const whence = ({ traceId, parentSpanId, links = [] }: OtlpSpan): Whence => ({
  trace: traceId === TRACE ? 'the caller’s' : 'its own',
  parent: parentSpanId ?? null,
  links: links.map((link) => `${link.traceId}-${link.spanId}`),
});

interface Whence {
  readonly trace: string;
  readonly parent: string | null;
  readonly links: readonly string[];
}

const JOINED: Whence = { trace: 'the caller’s', parent: SPAN, links: [] };
const LINKED: Whence = { trace: 'its own', parent: null, links: [`${TRACE}-${SPAN}`] };

function post(body: object, headers: Readonly<Record<string, string>> = {}) {
  const sent = { 'content-type': 'application/json', traceparent: HEADER, ...headers };
  return new Request('http://localhost/v1/threads', {
    method: 'POST',
    headers: sent,
    body: JSON.stringify({ agent: 'helper', messages: [{ content: 'Hi.' }], ...body }),
  });
}

async function open(answers: number): Promise<{ received: OtlpReceiver; runtime: TestRuntime }> {
  const received = await openReceiver();
  startSdk(received);
  const model = scriptedModel(Array.from({ length: answers }, () => says('Hello.')));
  return { received, runtime: await testRuntime({ model, fresh: true }) };
}

describe('the traceparent of a caller', () => {
  it.each([
    ['is linked without a token', {}, {}, LINKED],
    ['is joined with a token', { access: tokenAccess(TOKEN) }, { authorization: `Bearer ${TOKEN}` }, JOINED],
    ['is joined if the setting says so', { joinsTraces: true }, {}, JOINED],
    ['is ignored if it is malformed', {}, { traceparent: `00-${TRACE}-1-01` }, { ...LINKED, links: [] }],
  ])('%s', async (_what, options, headers, expected) => {
    const { received, runtime } = await open(2);
    const api = createApi({ client: runtime.client, ...options });
    const answer = await api.fetch(post({}, headers));
    const { threadId } = (await answer.json()) as { threadId: string };
    await runtime.client.waitForIdle(threadId);
    await runtime.say(threadId, 'And again.');
    const [first, second] = await eventually('both executions', async () => {
      const found = agents(received);
      return found.length === 2 ? found : undefined;
    });
    expect(whence(first as OtlpSpan)).toEqual(expected);
    // What the thread was started with holds for its first execution alone.
    expect(whence(second as OtlpSpan)).toEqual({ ...LINKED, links: [] });
    api.close();
  });

  it('is a link if its context claims to be joined, without a token', async () => {
    const { received, runtime } = await open(1);
    const api = createApi({ client: runtime.client });
    await api.fetch(post({ context: { traceparent: HEADER } }, { traceparent: '' }));
    const [only] = await eventually('the execution', async () => {
      const found = agents(received);
      return found.length === 1 ? found : undefined;
    });
    expect(whence(only as OtlpSpan)).toEqual(LINKED);
    api.close();
  });

  it('is joined if a program gives it to its client, and refused if it is malformed', async () => {
    const { received, runtime } = await open(1);
    const start = (traceparent: string) =>
      runtime.client.startThread({
        agent: 'helper',
        messages: [{ content: 'Hi.' }],
        context: { traceparent },
      });
    await expect(start('00-1-2-01')).rejects.toThrow('"context.traceparent" must be a traceparent');
    await start(HEADER);
    const [only] = await eventually('the execution', async () => {
      const found = agents(received);
      return found.length === 1 ? found : undefined;
    });
    expect(whence(only as OtlpSpan)).toEqual(JOINED);
    expect(onceEach(received.spans).every(({ traceId }) => traceId === TRACE)).toBe(true);
  });

  it('is a link of the execution that its message joins', async () => {
    const received = await openReceiver();
    startSdk(received);
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const hold = defineTool({
      description: 'Holds.',
      execute: async () => {
        begun.resolve();
        await released.promise;
        return { status: 'success', result: 'released' };
      },
    });
    const model = scriptedModel([calls('hold', {}), says('Hello.')]);
    const runtime = await testRuntime({ model, tools: { hold }, fresh: true });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'Hi.' }],
    });
    await begun.promise;
    const api = createApi({ client: runtime.client, joinsTraces: true });
    const request = new Request(`http://localhost/v1/threads/${threadId}/messages`, post({}));
    const answer = await api.fetch(new Request(request, { body: JSON.stringify({ content: 'And?' }) }));
    expect(answer.status).toBe(202);
    released.resolve();
    const [only] = await eventually('the execution', async () => {
      const found = agents(received);
      return found.length === 1 ? found : undefined;
    });
    expect(whence(only as OtlpSpan)).toEqual(LINKED);
    api.close();
  });

  it('reaches an agent elsewhere with the call that asks it', async () => {
    const received = await openReceiver();
    startSdk(received);
    const theirs = await testRuntime({ model: scriptedModel([says('Four.')]), fresh: true });
    const { url } = await testApi(theirs);
    const expert = defineA2aAgent({ description: 'Knows.', url: `${url}/a2a/helper`, idempotent: true });
    const model = scriptedModel([calls('a2a__expert', { message: 'Two and two?' }), says('Four.')]);
    const runtime = await testRuntime({
      model,
      a2aAgents: { expert },
      prompt: { tools: ['a2a:expert'] },
      fresh: true,
    });
    await runtime.start('Go.');
    await eventually('both executions', async () => agents(received).length === 2);
    const spans = onceEach(received.spans);
    const call = spans.find(({ name }) => name === 'execute_tool a2a__expert');
    const linked = agents(received).flatMap(({ links = [] }) => links);
    expect(linked.map(({ traceId, spanId }) => [traceId, spanId])).toEqual([[call?.traceId, call?.spanId]]);
  });
});
