import { connect } from 'node:net';
import { calls, fails, hangs, type ScriptedServer, says, scriptedModel } from '../../src/testing/index.ts';
import { until } from '../models/support.ts';

const servers: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(model: ReturnType<typeof scriptedModel>): Promise<string> {
  const server = await model.serve();
  servers.push(server);
  return server.url;
}

function post(url: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = { 'content-type': 'application/json' };
  return fetch(`${url}/chat/completions`, { method: 'POST', headers, body: text, signal });
}

const hello = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };

test('[definitions 5.7] the served script speaks the protocol of OpenAI: answers without streaming', async () => {
  const model = scriptedModel([calls('add', { a: 1 }, { text: 'Adding.' })]);
  const answer = await (await post(await serve(model), hello)).json();
  expect(answer).toMatchObject({
    id: 'scripted-1',
    object: 'chat.completion',
    model: 'm',
    choices: [
      {
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: 'Adding.',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
        },
      },
    ],
  });
  expect(model.requests).toEqual([{ model: 'm', messages: [{ role: 'user', content: 'hello' }] }]);
});

test('[definitions 5.7] the served script speaks the protocol of OpenAI: server-sent events up to [DONE]', async () => {
  const url = await serve(scriptedModel([says('Hello', { chunks: 2, chunkDelayMs: 5 })]));
  const response = await post(url, { ...hello, stream: true });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const lines = (await response.text()).trim().split('\n\n');
  expect(lines.at(-1)).toBe('data: [DONE]');
  const events = lines.slice(0, -1).map((line) => JSON.parse(line.replace('data: ', '')));
  expect(events.map((event) => event.choices[0]?.delta.content).join('')).toBe('Hello');
  expect(events.at(-1)).toMatchObject({ id: 'scripted-1', choices: [], usage: { completion_tokens: 2 } });
});

test('[definitions 5.7] a failing step is a real status with retry-after', async () => {
  const model = scriptedModel([
    fails({ status: 503, message: 'busy', retryAfter: 3 }),
    fails({ status: 429, message: 'slow down', retryAfter: 0.25 }),
  ]);
  const url = await serve(model);
  const busy = await post(url, hello);
  expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '3']);
  expect(await busy.json()).toEqual({ error: { message: 'busy', type: 'server_error', code: null } });
  const slow = await post(url, hello);
  expect([slow.status, slow.headers.get('retry-after-ms')]).toEqual([429, '250']);
});

test('[definitions 5.7] a request that is not a chat completion is refused and consumes no step', async () => {
  const model = scriptedModel([says('one')]);
  const url = await serve(model);
  expect((await post(url, '{broken')).status).toBe(400);
  expect((await post(url, { model: 'm' })).status).toBe(400);
  expect((await fetch(`${url}/embeddings`)).status).toBe(404);
  expect(await (await fetch(`${url}/models`)).json()).toMatchObject({
    data: [{ id: 'scripted', object: 'model' }],
  });
  expect(model.remaining).toBe(1);
});

test('[definitions 5.7] a connection records whether its answer was sent in full or the client left', async () => {
  const model = scriptedModel([says('one'), hangs()]);
  const url = await serve(model);
  await (await post(url, hello)).text();
  await until(() => model.connections[0]?.completed === true, 'the first connection to complete');
  const abort = new AbortController();
  const left = post(url, hello, abort.signal);
  await until(() => model.requests.length === 2, 'the second request');
  expect(model.connections[1]?.closedAt).toBeNull();
  abort.abort();
  await expect(left).rejects.toThrow();
  await until(() => model.connections[1]?.closedAt !== null, 'the second connection to close');
  expect(model.connections[1]?.completed).toBe(false);
});

test('[definitions 5.7] close ends idle keep-alive sockets and hanging answers', async () => {
  const model = scriptedModel([hangs()]);
  const server = await model.serve();
  const idle = connect(Number(new URL(server.url).port), '127.0.0.1');
  await new Promise((resolve) => idle.once('connect', resolve));
  const idleEnd = new Promise((resolve) => idle.once('close', resolve));
  const hanging = post(server.url, hello);
  await until(() => model.requests.length === 1, 'the request');
  const [outcome] = await Promise.allSettled([hanging, server.close(), idleEnd]);
  expect(outcome.status).toBe('rejected');
  await expect(fetch(`${server.url}/models`)).rejects.toThrow();
});

test('[definitions 5.7] a port in use is an error of serve', async () => {
  const model = scriptedModel([]);
  const port = Number(new URL(await serve(model)).port);
  await expect(model.serve({ port })).rejects.toThrow('EADDRINUSE');
});
