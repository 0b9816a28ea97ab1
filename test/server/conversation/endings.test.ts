/** How the end of a conversation is read as input of a thread: the same at every endpoint. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { ContentPart, ProviderMessage } from '../../../src/core/message/provider.ts';
import { calls, says, scriptedModel } from '../../../src/testing/index.ts';
import { type TestApi, testApi } from '../../support/api.ts';
import { askChat } from '../../support/read-chat.ts';
import { testRuntime } from '../../support/runtime.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A conversation whose client has a tool: its next request carries what was said since. */
interface Talk {
  /** Returns the status of the answer, and the ids of the calls that the client must run. */
  say(...messages: readonly Said[]): Promise<{ readonly status: number; readonly calls: readonly string[] }>;
}
type Said =
  | { readonly role: 'user' | 'assistant' | 'system' | 'developer'; readonly text: string }
  | { readonly role: 'tool'; readonly callId: string; readonly text?: string; readonly picture?: true };

const DOORS: Readonly<Record<string, (api: TestApi, threadId: string) => Talk>> = {
  completions(api, threadId) {
    const messages: object[] = [];
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } };
    return {
      async say(...said) {
        for (const each of said)
          messages.push(
            each.role === 'tool'
              ? { role: 'tool', tool_call_id: each.callId, content: each.picture ? [image] : each.text }
              : { role: each.role, content: each.text },
          );
        const { status, body } = await api.call('POST', '/v1/chat/completions', {
          ...{ model: 'helper', messages, metadata: { thread_id: threadId } },
          tools: [{ type: 'function', function: { name: 'look', parameters: {} } }],
        });
        const message = body.choices?.[0]?.message;
        if (message) messages.push(message);
        return { status, calls: (message?.tool_calls ?? []).map(({ id }: { id: string }) => id) };
      },
    };
  },
  'ag-ui'(api, threadId) {
    const messages: object[] = [];
    const image = { type: 'image', source: { type: 'data', value: PNG, mimeType: 'image/png' } };
    return {
      async say(...said) {
        for (const each of said) {
          const id = randomUUID();
          messages.push(
            each.role === 'tool'
              ? { id, role: 'tool', toolCallId: each.callId, content: each.picture ? [image] : each.text }
              : { id, role: each.role, content: each.text },
          );
        }
        const { status, body } = await api.call('POST', '/ag-ui/helper', {
          ...{ threadId, runId: randomUUID(), messages, tools: [{ name: 'look', description: 'looks' }] },
        });
        if (status !== 200) return { status, calls: [] };
        const events = String(body)
          .split('\n')
          .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
        const asked = events
          .filter(({ type }) => type === 'TOOL_CALL_START')
          .map((event) => event.toolCallId);
        messages.push({ id: randomUUID(), role: 'assistant', content: 'as it was answered' });
        return { status, calls: asked };
      },
    };
  },
  chat(api, threadId) {
    const messages: object[] = [];
    return {
      async say(...said) {
        for (const each of said)
          messages.push({
            ...{ id: randomUUID(), role: each.role },
            parts: [{ type: 'text', text: 'text' in each ? each.text : '' }],
          });
        const url = `${api.url}/v1/agents/helper/chat`;
        const { status } = await askChat(url, { body: { id: threadId, messages } });
        return { status, calls: [] };
      },
    };
  },
};

async function begin(door: string) {
  const requests: (readonly ProviderMessage[])[] = [];
  const model = scriptedModel((request) => {
    requests.push(request.messages);
    const asks = request.messages.at(-1)?.content === 'look';
    return asks ? calls('client__look', {}) : says('Seen.');
  });
  const runtime = await testRuntime({ model });
  const threadId = randomUUID();
  const talk = (DOORS[door] as (typeof DOORS)[string])(await testApi(runtime), threadId);
  return { runtime, threadId, talk, requests };
}

describe('the end of a conversation', () => {
  it.each(['completions', 'ag-ui'])(
    'stores the result, then answers the message, if a result precedes a message: %s',
    async (door) => {
      const { talk, runtime, threadId } = await begin(door);
      const { calls: asked } = await talk.say({ role: 'user', text: 'look' });
      expect(asked).toHaveLength(1);
      const callId = asked[0] as string;
      const { status, calls: again } = await talk.say(
        { role: 'tool', callId, text: 'a tree' },
        { role: 'user', text: 'and now?' },
      );
      expect([status, again]).toEqual([200, []]);
      expect(await runtime.client.listWaits({ threadId, state: 'open' })).toEqual([]);
      const transcript = await runtime.transcript(threadId);
      expect(transcript).toContain('tool client__look success: a tree');
      expect(transcript.at(-1)).toBe('assistant: Seen.');
      expect(transcript).toContain('user: and now?');
    },
  );

  it.each(['completions', 'ag-ui'])(
    'shows the model a result that is a picture, and never an empty result: %s',
    async (door) => {
      const { talk, requests } = await begin(door);
      const { calls: asked } = await talk.say({ role: 'user', text: 'look' });
      expect((await talk.say({ role: 'tool', callId: asked[0] as string, picture: true })).status).toBe(200);
      const result = requests.at(-1)?.find(({ role }) => role === 'tool');
      const shown = result?.role === 'tool' ? (result.attachments ?? []) : [];
      expect((shown as readonly ContentPart[]).map(({ type }) => type)).toEqual(['image']);
      expect(JSON.stringify(result)).not.toContain('nothing');
    },
  );

  it.each(Object.keys(DOORS))(
    'ignores messages of other roles after the message of the user: %s',
    async (door) => {
      const { talk, runtime, threadId } = await begin(door);
      const trailing = [
        { role: 'system', text: 'Be brief.' },
        ...(door === 'chat' ? [] : [{ role: 'developer', text: 'Be kind.' } as const]),
      ] as const;
      expect((await talk.say({ role: 'user', text: 'hi' }, ...trailing)).status).toBe(200);
      expect(await runtime.transcript(threadId)).toEqual(['user: hi', 'assistant: Seen.']);
    },
  );

  it.each(Object.keys(DOORS))(
    'answers 400, or with what is stored, if the assistant spoke last: %s',
    async (door) => {
      const { talk } = await begin(door);
      const { status } = await talk.say({ role: 'user', text: 'hi' }, { role: 'assistant', text: 'Hello!' });
      expect(status).toBe(400);
    },
  );
});
