/** The same words again are a repetition only if that is provable; else they are a new message, which is answered. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../../src/testing/index.ts';
import { testApi } from '../../support/api.ts';
import { cuttingProxy } from '../../support/cutting-proxy.ts';
import { type RuntimeOptions, testRuntime } from '../../support/runtime.ts';

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });
const REPEATED = 'everthread-repeated';

/** An agent that counts its answers: "1", "2", … */
async function begin(options: RuntimeOptions = {}) {
  let count = 0;
  const runtime = await testRuntime({ model: scriptedModel(() => says(String(++count))), ...options });
  const api = await testApi(runtime);
  const threadId = randomUUID();
  const ask = async (messages: readonly object[], { stream = false, headers = {} } = {}) => {
    const body = { model: 'helper', messages, stream, metadata: { thread_id: threadId } };
    const answer = await api.call('POST', '/v1/chat/completions', body, headers);
    const text = stream
      ? [...String(answer.body).matchAll(/"content":"([^"]+)"/g)].map(([, piece]) => piece).join('')
      : answer.body.choices[0].message.content;
    return [text, answer.headers.get(REPEATED)];
  };
  return { runtime, api, threadId, ask };
}

describe('a message repeated word for word', () => {
  it('is new after a delivered answer if the client sends no history; marked as a retry it is a repetition', async () => {
    const { ask, runtime, threadId } = await begin();
    for (const [n, stream] of [false, true, false].entries())
      expect(await ask([user('next')], { stream })).toEqual([String(n + 1), null]);
    expect(await ask([user('next')], { headers: { 'x-stainless-retry-count': '1' } })).toEqual(['3', 'true']);
    expect(await ask([user('next')], { headers: { 'x-stainless-retry-count': '0' } })).toEqual(['4', null]);
    const key = { headers: { 'idempotency-key': randomUUID() } };
    expect(await ask([user('next')], key)).toEqual(['5', null]);
    expect(await ask([user('next')], key)).toEqual(['5', 'true']);
    expect(await runtime.messages(threadId)).toHaveLength(10);
  });

  it('is new after another answer if the client trims its history; the same request, marked as a retry, is a repetition', async () => {
    const { ask } = await begin();
    const turns = [user('start')];
    expect(await ask(turns)).toEqual(['1', null]);
    for (const answer of ['1', '2', '3']) {
      turns.push(assistant(answer), user('next'));
      const request = turns.slice(-3);
      expect(await ask(request)).toEqual([String(Number(answer) + 1), null]);
      const headers = { 'x-stainless-retry-count': '1' };
      expect(await ask([{ role: 'system', content: randomUUID() }, ...request], { headers })).toEqual([
        String(Number(answer) + 1),
        'true',
      ]);
    }
  });

  it('is new after the delivered answer to client results; the same results are a repetition', async () => {
    const model = scriptedModel((_, n) => (n % 2 === 0 ? calls('client__look', {}) : says(`seen ${n}`)));
    const { api, threadId } = await begin({ model });
    const tools = [{ type: 'function', function: { name: 'look', parameters: {} } }];
    const post = async (messages: readonly object[]) => {
      const body = { model: 'helper', messages, tools, metadata: { thread_id: threadId } };
      const answer = await api.call('POST', '/v1/chat/completions', body);
      return [answer.body.choices[0].message, answer.headers.get(REPEATED)];
    };
    for (const n of [1, 3]) {
      const [asked] = await post([user('look')]);
      const result = { role: 'tool', tool_call_id: asked.tool_calls[0].id, content: 'a tree' };
      for (const again of [null, 'true']) {
        const [answer, repeated] = await post([user('look'), asked, result]);
        expect([answer.content, repeated]).toEqual([`seen ${n}`, again]);
      }
    }
  });

  it('is a repetition while its answer is undelivered or waiting', async () => {
    const gate = Promise.withResolvers<void>();
    const look = defineTool({
      description: 'looks',
      async execute() {
        await gate.promise;
        return { status: 'success', result: 'seen' };
      },
    });
    const model = scriptedModel([calls('look'), says('1'), says('2')]);
    const { api, threadId, ask } = await begin({ model, tools: { look } });
    const proxy = await cuttingProxy(api.url);
    proxy.cut(1);
    const body = {
      ...{ model: 'helper', messages: [user('next')], stream: true },
      metadata: { thread_id: threadId },
    };
    const request = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    const cut = fetch(`${proxy.url}/v1/chat/completions`, request).then((response) => response.text());
    await expect(cut).rejects.toThrow();
    const again = ask([user('next')]);
    gate.resolve();
    expect(await again).toEqual(['1', 'true']);
    expect(await ask([user('next')])).toEqual(['2', null]);

    const asked = await testRuntime({ model: scriptedModel(() => calls('client__look', {})) });
    const other = await testApi(asked);
    const tools = [{ type: 'function', function: { name: 'look', parameters: {} } }];
    const lookingId = randomUUID();
    const post = () =>
      other.call('POST', '/v1/chat/completions', {
        ...{ model: 'helper', messages: [user('look')], tools, metadata: { thread_id: lookingId } },
      });
    const [first, second] = [await post(), await post()];
    expect(second.body.choices[0].message.tool_calls).toEqual(first.body.choices[0].message.tool_calls);
    expect(second.headers.get(REPEATED)).toBe('true');
  });

  it('is new in a new A2A context under another text, though the client numbers its messages from 1', async () => {
    const { api } = await begin();
    const send = async (text: string) => {
      const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text }] };
      const { status, body } = await api.call(
        'POST',
        '/a2a/helper/message:send',
        { message },
        { 'a2a-version': '1.0' },
      );
      return [status, body.task?.contextId];
    };
    const [hello, bye, again] = [await send('hello'), await send('bye'), await send('hello')];
    expect([hello[0], bye[0], again]).toEqual([200, 200, hello]);
    expect(bye[1]).not.toBe(hello[1]);
  });
});
