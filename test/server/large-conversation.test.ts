/**
 * Conversations with photos among their earlier messages, more than a body may have: clients send all of it with each
 * message, and each door answers the last one. The limit of the tests is a sixteenth of the usual one.
 */
import { randomUUID } from 'node:crypto';
import { HttpAgent } from '@ag-ui/client';
import { describe, expect, it } from '@jest/globals';
import { DefaultChatTransport, type UIMessage } from 'ai';
import OpenAI from 'openai';
import { OPERATOR } from '../../src/server/api/caller.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { testRuntime } from '../support/runtime.ts';

const PHOTO = 'QUJD'.repeat(100_000);
const BODY_BYTES = 1024 * 1024;
const photoUrl = `data:image/jpeg;base64,${PHOTO}`;
const TURNS = [1, 2, 3];

interface Asked {
  readonly url: string;
  readonly threadId: string;
  /** The last message has them too. */
  readonly photos: number;
}

/** Each sends the conversation, and rejects if it is refused. */
const DOORS: Readonly<Record<string, (asked: Asked) => Promise<unknown>>> = {
  async 'chat completions'({ url, threadId, photos }) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
    const image = { type: 'image_url' as const, image_url: { url: photoUrl } };
    const said = (text: string, parts: readonly (typeof image)[]) => ({
      role: 'user' as const,
      content: [{ type: 'text' as const, text }, ...parts],
    });
    const earlier = TURNS.flatMap((n) => [
      said(`photo ${n}`, [image]),
      { role: 'assistant' as const, content: 'seen' },
    ]);
    const messages = [
      ...earlier,
      said(
        'last',
        Array.from({ length: photos }, () => image),
      ),
    ];
    await client.chat.completions.create({ model: 'helper', messages, metadata: { thread_id: threadId } });
  },
  async 'useChat, by the transport of the AI SDK'({ url, threadId, photos }) {
    const file = { type: 'file' as const, mediaType: 'image/jpeg', url: photoUrl };
    const said = (text: string, parts: readonly (typeof file)[]): UIMessage => ({
      id: randomUUID(),
      role: 'user',
      parts: [{ type: 'text', text }, ...parts],
    });
    const seen: UIMessage = { id: randomUUID(), role: 'assistant', parts: [{ type: 'text', text: 'seen' }] };
    const transport = new DefaultChatTransport({ api: `${url}/v1/agents/helper/chat` });
    const stream = await transport.sendMessages({
      chatId: threadId,
      messages: [
        ...TURNS.flatMap((n) => [said(`photo ${n}`, [file]), seen]),
        said(
          'last',
          Array.from({ length: photos }, () => file),
        ),
      ],
      trigger: 'submit-message',
      messageId: undefined,
      abortSignal: undefined,
    });
    for await (const _ of stream);
  },
  async 'AG-UI'({ url, threadId, photos }) {
    const image = {
      type: 'image' as const,
      source: { type: 'data' as const, value: PHOTO, mimeType: 'image/jpeg' },
    };
    const agent = new HttpAgent({ url: `${url}/ag-ui/helper`, threadId });
    const said = (text: string, parts: readonly (typeof image)[]) =>
      agent.addMessage({ id: randomUUID(), role: 'user', content: [{ type: 'text', text }, ...parts] });
    for (const n of TURNS) {
      said(`photo ${n}`, [image]);
      agent.addMessage({ id: randomUUID(), role: 'assistant', content: 'seen' });
    }
    said(
      'last',
      Array.from({ length: photos }, () => image),
    );
    const failures: unknown[] = [];
    agent.subscribe({
      onRunFailed({ error }) {
        failures.push(error);
        return { stopPropagation: true } as never;
      },
    });
    await agent.runAgent();
    if (failures.length > 0) throw failures[0];
  },
  async 'Standard Agents'({ url, photos }) {
    const file = { type: 'file', data: photoUrl };
    const last = { role: 'user', content: 'last', attachments: Array.from({ length: photos }, () => file) };
    const initial = [
      ...TURNS.map((n) => ({ role: 'user', content: `photo ${n}`, attachments: [file] })),
      last,
    ];
    const answer = await fetch(`${url}/api/threads`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ agent_id: 'helper', initial_messages: initial }),
    });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  },
};

describe.each(Object.entries(DOORS))('a long conversation over %s', (door, send) => {
  it('is answered, however large its earlier photos are; a last message that is too large is refused', async () => {
    const model = scriptedModel(() => says('hello'));
    const runtime = await testRuntime({ model });
    const { url } = await testApi(runtime, {
      access: () => OPERATOR,
      bodyBytes: BODY_BYTES,
      agents: () => [{ name: 'helper', title: null, description: null }],
    });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'first' }],
    });
    await runtime.client.waitForIdle(threadId);
    await send({ url, threadId, photos: 0 });
    if (door !== 'Standard Agents') {
      const { messages } = await runtime.client.getMessages(threadId);
      expect(messages.map(({ content }) => content)).toEqual(['first', 'hello', 'last', 'hello']);
    }
    await expect(send({ url, threadId, photos: 3 })).rejects.toThrow(/413|at most 1048576 bytes/);
  });
});

describe('a body without a content length', () => {
  it('is refused if it is too large, at every route', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const { url } = await testApi(runtime, { bodyBytes: 1000 });
    const send = async (path: string, bytes: number) => {
      const answer = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: new Blob([JSON.stringify({ agent: 'x'.repeat(bytes) })]).stream(),
        duplex: 'half',
      } as RequestInit);
      return [path, answer.status, await answer.text()];
    };
    for (const path of [
      '/v1/threads',
      '/v1/chat/completions',
      '/ag-ui/helper',
      '/a2a/helper',
      '/api/threads',
    ])
      for (const bytes of [1001, 4001])
        expect(await send(path, bytes)).toEqual([path, 413, expect.stringMatching(/at most [14]000 bytes/)]);
  });
});
