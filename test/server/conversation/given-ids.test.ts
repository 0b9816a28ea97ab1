/** Ids and names that clients receive and send: what other servers accept is accepted, and what is given fits them. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { callsMany, says, scriptedModel } from '../../../src/testing/index.ts';
import { testApi } from '../../support/api.ts';
import { askChat, textOf } from '../../support/read-chat.ts';
import { testRuntime } from '../../support/runtime.ts';

const user = { role: 'user', content: 'look' };

async function begin(name = 'look') {
  const offered: string[][] = [];
  const model = scriptedModel(({ messages, tools = [] }) => {
    offered.push(tools.map((tool) => tool.function.name));
    const results = messages.flatMap((each) => (each.role === 'tool' ? [each.content] : []));
    if (results.length > 0) return says(results.join(' and '));
    return offered.at(-1)?.length === 0
      ? says('Hello!')
      : callsMany([0, 1].map((at) => ({ name: offered.at(-1)?.[0] ?? name, args: { at } })));
  });
  const runtime = await testRuntime({ model });
  const api = await testApi(runtime);
  const tools = [{ type: 'function', function: { name, parameters: {} } }];
  const ask = (messages: readonly object[], more = {}, headers = {}) =>
    api.call('POST', '/v1/chat/completions', { model: 'helper', messages, tools, ...more }, headers);
  return { runtime, api, ask, offered };
}

describe('the ids of a conversation', () => {
  it('call ids are accepted by other providers and lead back to the thread', async () => {
    const { ask } = await begin();
    const { body, headers } = await ask([user]);
    const { message } = body.choices[0];
    const ids = message.tool_calls.map(({ id }: { id: string }) => id) as string[];
    expect(ids).toHaveLength(2);
    for (const id of ids) expect(id).toMatch(/^[\w-]{1,40}$/);
    expect(new Set(ids).size).toBe(2);
    const results = ids.map((id, n) => ({ role: 'tool', tool_call_id: id, content: `r${n}` }));
    const answered = await ask([user, message, ...results]);
    expect(answered.body.choices[0].message.content).toBe('r0 and r1');
    expect(answered.headers.get('x-thread-id')).toBe(headers.get('x-thread-id'));
  });

  it('message and request ids longer than those of a thread are accepted and deduplicated', async () => {
    const { api, ask, runtime } = await begin();
    const key = { 'idempotency-key': 'k'.repeat(255) };
    const asked = await ask([{ role: 'user', content: 'hi' }], { tools: [] }, key);
    const again = await ask([{ role: 'user', content: 'hi' }], { tools: [] }, key);
    expect([asked.status, again.headers.get('x-thread-id')]).toEqual([200, asked.headers.get('x-thread-id')]);
    expect((await ask([user], {}, { 'idempotency-key': 'k'.repeat(256) })).status).toBe(400);

    const threadId = String(asked.headers.get('x-thread-id'));
    const messages = `/v1/threads/${threadId}/messages`;
    const queue = () =>
      api.call('POST', messages, { content: 'more' }, { 'idempotency-key': 'm'.repeat(255) });
    const [one, two] = [await queue(), await queue()];
    expect([one.status, two.body]).toEqual([202, one.body]);

    const id = randomUUID();
    const chat = {
      id,
      message: { id: 'ü'.repeat(200), role: 'user', parts: [{ type: 'text', text: 'hi' }] },
    };
    const url = `${api.url}/v1/agents/helper/chat`;
    const texts = [await askChat(url, { body: chat }), await askChat(url, { body: chat })].map(({ chunks }) =>
      textOf(chunks),
    );
    expect(texts[0]).toBe(texts[1]);
    expect(await runtime.messages(id)).toHaveLength(2);
  });

  it('tool names of 64 characters and 128 tools are accepted, and the client gets its names unchanged', async () => {
    const name = 'n'.repeat(64);
    const { ask, offered, api } = await begin(name);
    const { body } = await ask([user]);
    const called = body.choices[0].message.tool_calls;
    expect(called.map((call: { function: { name: string } }) => call.function.name)).toEqual([name, name]);
    expect(offered[0]?.[0]).toMatch(/^client__n+_[0-9a-f]{8}$/);
    expect(offered[0]?.[0]).toHaveLength(64);
    const tools = Array.from({ length: 128 }, (_, n) => ({
      name: `${'t'.repeat(60)}${n}`,
      description: 'x',
    }));
    const run = { threadId: randomUUID(), runId: 'r', messages: [{ id: 'm', ...user }], tools };
    const told = await api.call('POST', '/ag-ui/helper', run);
    expect(told.status).toBe(200);
    expect(told.body).toContain(`"toolCallName":"${tools[0]?.name}"`);
    // The run behind the results begins with a snapshot, which has the calls.
    const ids = [...String(told.body).matchAll(/"TOOL_CALL_START","toolCallId":"([^"]+)"/g)].map(
      ([, id]) => id,
    );
    const results = ids.map((toolCallId, n) => ({ id: `r${n}`, role: 'tool', toolCallId, content: 'seen' }));
    const snapshot = await api.call('POST', '/ag-ui/helper', { ...run, messages: results });
    expect(snapshot.body).toContain(`"function":{"name":"${tools[0]?.name}"`);
    const more = [...tools, { name: 'more', description: 'x' }];
    expect((await api.call('POST', '/ag-ui/helper', { ...run, tools: more })).status).toBe(400);
  });
});
