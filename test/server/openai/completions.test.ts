/** Chat Completions over HTTP, with OpenAI's published client. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { z } from 'zod';
import { defineTool } from '../../../src/definitions/index.ts';
import { calls, callsMany, fails, says, scriptedModel } from '../../../src/testing/index.ts';
import { type TestApi, testApi } from '../../support/api.ts';
import { cuttingProxy } from '../../support/cutting-proxy.ts';
import { testRuntime } from '../../support/runtime.ts';

const AGENTS = [{ name: 'helper', title: null, description: null }];
const connect = ({ url }: TestApi, more: ConstructorParameters<typeof OpenAI>[0] = {}) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0, ...more });
const said = (...texts: readonly string[]) =>
  texts.map((content, n) => ({ role: n % 2 === 0 ? ('user' as const) : ('assistant' as const), content }));
const inThread = (threadId: string) => ({ metadata: { thread_id: threadId } });
const usage = { promptTokens: 9, completionTokens: 4, totalTokens: 13, cachedTokens: 3, reasoningTokens: 2 };

const pay = defineTool({
  description: 'pays',
  confirm: true,
  execute: () => ({ status: 'success', result: 'paid' }),
});

describe('/v1/chat/completions', () => {
  it('is named as the alternative when a client calls OpenAI’s Responses API', async () => {
    const client = connect(await testApi(await testRuntime({ model: scriptedModel([]) })));
    const refused = client.responses.create({ model: 'helper', input: 'hi' });
    await expect(refused).rejects.toMatchObject({
      status: 404,
      code: 'RouteNotFound',
      message: expect.stringMatching(/use Chat Completions, \/v1\/chat\/completions/),
    });
  });

  it('sends an answer that has a type alone: neither drafts nor words beside calls of tools', async () => {
    const look = defineTool({ description: 'looks', execute: () => ({ status: 'success', result: 'seen' }) });
    const side = { output: z.object({ degrees: z.number() }) };
    const turn = [
      calls('look', {}, { text: 'I look.' }),
      says('warm', { chunks: 2 }),
      says('{"degrees":21}'),
    ];
    const model = scriptedModel([...turn, ...turn, says('a'), says('b'), says('c')]);
    const client = connect(await testApi(await testRuntime({ model, tools: { look }, side })));
    const asked = { model: 'helper', messages: said('Bern?') };
    const parsed = await client.chat.completions.create(asked);
    expect(parsed.choices[0]?.message.content).toBe('{"degrees":21}');
    const stream = client.chat.completions.stream(asked);
    expect(await stream.finalContent()).toBe('{"degrees":21}');
    await expect(client.chat.completions.create(asked)).rejects.toMatchObject({ code: 'OutputInvalid' });
  });

  it('answers without streaming, with the usage, and continues the conversation in the named thread', async () => {
    const model = scriptedModel([says('Hello!', { usage }), says('Bye!')]);
    const runtime = await testRuntime({ model });
    const client = connect(await testApi(runtime));
    const threadId = randomUUID();
    const ask = (...texts: readonly string[]) =>
      client.chat.completions.create({ model: 'helper', messages: said(...texts), ...inThread(threadId) });
    const first = await ask('hi');
    expect(first).toMatchObject({
      object: 'chat.completion',
      model: 'helper',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello!' } }],
      usage: {
        prompt_tokens: 9,
        completion_tokens: 4,
        total_tokens: 13,
        prompt_tokens_details: { cached_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    });
    expect((await ask('hi', 'Hello!', 'bye')).choices[0]?.message.content).toBe('Bye!');
    expect(await runtime.transcript(threadId)).toEqual([
      'user: hi',
      'assistant: Hello!',
      'user: bye',
      'assistant: Bye!',
    ]);
  });

  it('streams across tool calls; without a thread each request starts one from its conversation', async () => {
    const look = defineTool({
      description: 'looks',
      execute: () => ({ status: 'success', result: 'seen' }),
    });
    const model = scriptedModel([
      calls('look', {}, { text: 'Let me look.', usage }),
      says('It is seen.', { chunks: 3, usage }),
      says('Again.'),
    ]);
    const runtime = await testRuntime({ model, tools: { look } });
    const client = connect(await testApi(runtime));
    const messages = [{ role: 'system' as const, content: 'Rhyme.' }, ...said('hi', 'Hello!', 'look')];
    const ask = async () => {
      const { data: stream, response } = await client.chat.completions
        .create({ model: 'helper', messages, stream: true, stream_options: { include_usage: true } })
        .withResponse();
      const chunks: OpenAI.ChatCompletionChunk[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      const threadId = response.headers.get('x-thread-id') as string;
      return { chunks, threadId };
    };
    const { chunks, threadId } = await ask();
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
    const pieces = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? ''));
    expect(pieces.join('')).toBe('Let me look.\n\nIt is seen.');
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 18, completion_tokens: 8 } });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(await runtime.transcript(threadId)).toEqual([
      'user: hi',
      'assistant: Hello!',
      'user: look',
      'assistant: Let me look. -> look',
      'tool look success: seen',
      'assistant: It is seen.',
    ]);
    const again = await ask();
    expect(again.threadId).not.toBe(threadId);
  });

  it('ends an answer that waits for a person with its question; the same request later reads the rest', async () => {
    const model = scriptedModel([calls('pay', { amount: 5 }), says('Done.')]);
    const runtime = await testRuntime({ model, tools: { pay } });
    const client = connect(await testApi(runtime));
    const threadId = randomUUID();
    const ask = async (stream: boolean, headers = {}) => {
      const body = { model: 'helper', messages: said('pay'), ...inThread(threadId) };
      const answer = await (stream
        ? client.chat.completions.stream(body, { headers }).finalChatCompletion()
        : client.chat.completions.create(body, { headers }));
      return answer.choices[0];
    };
    for (const stream of [false, true]) {
      const asked = await ask(stream);
      const [wait] = await runtime.client.listWaits({ threadId, state: 'open' });
      expect(asked?.finish_reason).toBe('stop');
      expect(asked?.message.content).toContain(`approval of pay`);
      expect(asked?.message.content).toContain(`(wait ${wait?.id})`);
    }
    const [wait] = await runtime.client.listWaits({ threadId, state: 'open' });
    // A message sent during the wait waits as well.
    const hurry = await client.chat.completions.create({
      model: 'helper',
      messages: said('pay', 'What is asked', 'hurry'),
      ...inThread(threadId),
    });
    expect(hurry.choices[0]?.message.content).toMatch(/^This answer is waiting [\s\S]+approval of pay/);
    await runtime.client.answerWait(wait?.id as string, { approved: true });
    const retry = { 'x-stainless-retry-count': '1' };
    for (const stream of [true, false]) expect((await ask(stream, retry))?.message.content).toBe('Done.');
    expect(await runtime.client.listWaits({ threadId, state: 'answered' })).toHaveLength(1);
  });

  it('offers client tools to the agent; a call of one ends the answer and waits durably for the next request, once', async () => {
    const weather = {
      name: 'weather',
      description: 'tells the weather',
      parameters: { type: 'object', properties: { town: { type: 'string' } } },
    };
    const tools = [{ type: 'function' as const, function: weather }];
    const offered: string[][] = [];
    const model = scriptedModel((request) => {
      offered.push((request.tools ?? []).map((each) => each.function.name));
      const results = request.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
      if (results.length > 0) return says(results.join(' and '));
      return callsMany(['Oslo', 'Rome'].map((town) => ({ name: 'client__weather', args: { town } })));
    });
    const runtime = await testRuntime({ model });
    const client = connect(await testApi(runtime));
    for (const stream of [false, true]) {
      const ask = async (messages: OpenAI.ChatCompletionMessageParam[]) => {
        const body = { model: 'helper', messages, tools };
        if (!stream) return (await client.chat.completions.create(body)).choices[0];
        return (await client.chat.completions.stream(body).finalChatCompletion()).choices[0];
      };
      const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: `weather ${stream}` }];
      const asked = await ask(messages);
      expect(asked?.finish_reason).toBe('tool_calls');
      const called = asked?.message.tool_calls ?? [];
      expect(called).toMatchObject(
        ['Oslo', 'Rome'].map((town) => ({
          type: 'function',
          function: { name: 'weather', arguments: JSON.stringify({ town }) },
        })),
      );
      const { threadId } = await runtime.client.getWait(String(called[0]?.id));
      expect(await runtime.client.getThread(threadId)).toMatchObject({ status: 'waiting' });
      // No thread is named: the ids of the calls identify it.
      const results = called.map(({ id }, n) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: ['rain', 'sun'][n] as string,
      }));
      const all = [...messages, asked?.message as OpenAI.ChatCompletionMessageParam, ...results];
      for (const _ of [1, 2]) {
        const answered = await ask(all);
        expect([answered?.finish_reason, answered?.message.content]).toEqual(['stop', 'rain and sun']);
      }
      expect((await runtime.transcript(threadId)).filter((line) => line.startsWith('tool '))).toEqual([
        'tool client__weather success: rain',
        'tool client__weather success: sun',
      ]);
      // Another message offers only the tools that it brings.
      offered.splice(0);
      const plain = { model: 'helper', messages: said('weather', 'rain', 'thanks'), ...inThread(threadId) };
      expect((await client.chat.completions.create(plain)).choices[0]?.finish_reason).toBe('stop');
      expect(offered).toEqual([[]]);
    }
    await expect(
      client.chat.completions.create({ model: 'helper', messages: said('hi'), tools: [...tools, ...tools] }),
    ).rejects.toMatchObject({ status: 400, code: 'InvalidRequest' });
    const lost = [{ role: 'tool' as const, tool_call_id: 'call_none', content: 'x' }];
    await expect(client.chat.completions.create({ model: 'helper', messages: lost })).rejects.toMatchObject({
      status: 404,
      code: 'WaitNotFound',
    });
  });

  it('applies policies to client tools: a denied call is an error, one that needs approval is asked for first', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: {} } }];
    for (const rule of ['deny', 'require_approval'] as const) {
      const model = scriptedModel(({ messages }) => {
        const result = messages.findLast(({ role }) => role === 'tool');
        return result ? says(`told: ${result.content}`) : calls('client__weather', {});
      });
      const runtime = await testRuntime({ model, agent: { policy: { 'client.*': rule } } });
      const client = connect(await testApi(runtime));
      const threadId = randomUUID();
      const ask = async (...results: readonly OpenAI.ChatCompletionMessageParam[]) =>
        (
          await client.chat.completions.create({
            ...{ model: 'helper', tools, messages: [...said('go'), ...results], ...inThread(threadId) },
          })
        ).choices[0];
      const first = await ask();
      expect(first?.finish_reason).toBe('stop');
      if (rule === 'deny') {
        expect(first?.message.content).toMatch(/^told: .*client\.weather/);
        continue;
      }
      expect(first?.message.content).toContain('approval of client__weather');
      const [wait] = await runtime.client.listWaits({ threadId, state: 'open' });
      const resultOf = (id = '', content = '') => ({ role: 'tool' as const, tool_call_id: id, content });
      // A result does not count as an approval.
      await expect(ask(resultOf(wait?.id, 'sun'))).rejects.toMatchObject({
        status: 404,
        code: 'WaitNotFound',
      });
      await runtime.client.answerWait(wait?.id as string, { approved: true });
      const called = await ask();
      expect([called?.finish_reason, called?.message.tool_calls?.length]).toEqual(['tool_calls', 1]);
      const rain = resultOf(called?.message.tool_calls?.[0]?.id, 'rain');
      expect((await ask(rain))?.message.content).toBe('told: rain');
    }
  });

  it('reports a failed answer with its code, and the client does not retry it', async () => {
    const failure = fails({ status: 400, message: 'no such model' });
    const runtime = await testRuntime({ model: scriptedModel([failure]) });
    const client = connect(await testApi(runtime), { maxRetries: 2 });
    const body = { model: 'helper', messages: said('hi'), ...inThread(randomUUID()) };
    const code = expect.any(String);
    await expect(client.chat.completions.create(body)).rejects.toMatchObject({
      status: 422,
      type: 'invalid_request_error',
      code,
    });
    await expect(client.chat.completions.stream(body).finalChatCompletion()).rejects.toMatchObject({ code });
    expect((await runtime.client.getThread(body.metadata.thread_id)).lastError).not.toBeNull();
  });

  it('runs a request once though its client retries it after a cut: with a thread, with a key, with neither', async () => {
    const model = scriptedModel([
      says('One.', { chunks: 4, chunkDelayMs: 100 }),
      says('Two.'),
      says('Three.'),
    ]);
    const runtime = await testRuntime({ model });
    const api = await testApi(runtime);
    const proxy = await cuttingProxy(api.url);
    const client = connect({ url: proxy.url } as TestApi, { maxRetries: 5 });
    const ways = [
      { body: inThread(randomUUID()), options: {} },
      { body: {}, options: { headers: { 'Idempotency-Key': randomUUID() } } },
      { body: { user: randomUUID() }, options: {} },
    ];
    for (const [n, { body, options }] of ways.entries()) {
      proxy.cut(1, 1);
      const cuts = proxy.cuts;
      const { data, response } = await client.chat.completions
        .create({ model: 'helper', messages: said('hi'), ...body }, options)
        .withResponse();
      expect(data.choices[0]?.message.content).toBe(['One.', 'Two.', 'Three.'][n]);
      expect(proxy.cuts - cuts).toBe(2);
      const threadId = response.headers.get('x-thread-id') as string;
      expect((await runtime.messages(threadId)).length).toBe(2);
    }
  });

  it('gives each of several identical requests a thread of its own', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('a'), says('b'), says('c')]) });
    const client = connect(await testApi(runtime));
    const body = { model: 'helper', messages: said('hi'), user: randomUUID() };
    const ask = async () => (await client.chat.completions.create(body)).choices[0]?.message.content;
    const [first, second] = await Promise.all([ask(), ask()]);
    expect([first, second, await ask()].toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('lists agents as models, and refuses in OpenAI’s shape with the codes of all endpoints', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const client = connect(await testApi(runtime, { agents: () => AGENTS }));
    const listed = await client.models.list();
    expect(listed.data).toEqual([{ id: 'helper', object: 'model', created: 0, owned_by: 'everthread' }]);
    expect(await client.models.retrieve('helper')).toEqual(listed.data[0]);
    const refused = (more: object) =>
      client.chat.completions.create({ model: 'helper', messages: said('hi'), ...more }).then(
        () => null,
        ({ status, code, type }) => [status, code, type],
      );
    const invalid = [400, 'InvalidRequest', 'invalid_request_error'];
    expect(await refused({ model: 'nobody' })).toEqual([404, 'AgentNotFound', 'invalid_request_error']);
    expect(await client.models.retrieve('nobody').catch(({ code }) => code)).toBe('AgentNotFound');
    for (const more of [
      { n: 2 },
      { messages: [] },
      { messages: said('hi', 'Hello!') },
      { tool_choice: 'required' },
      { response_format: { type: 'grammar' } },
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://x/y' } }] }] },
    ])
      expect([more, await refused(more)]).toEqual([more, invalid]);
    const legacy = { role: 'function' as const, name: 'look', content: 'a tree' };
    await expect(
      client.chat.completions.create({ model: 'helper', messages: [legacy] }),
    ).rejects.toMatchObject({ message: expect.stringContaining('needs the "tool_call_id" of its call') });
  });
});
