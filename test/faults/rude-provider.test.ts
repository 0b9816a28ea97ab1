/**
 * A misbehaving provider harms only the step that asked it: the thread records the reason, but no part of a key, and
 * goes on.
 */
import { describe, expect, it } from '@jest/globals';
import type { ProviderFactory } from '../../src/core/message/provider.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import type { ScriptedModel } from '../../src/testing/index.ts';
import { event, FINISH, type RudeAnswer, serveRudely } from '../models/rude-server.ts';
import { closeAfterTest, helperRegistry, testRuntime } from '../support/runtime.ts';
import { findMarks, MARK } from '../support/secret-mark.ts';

/** A runtime whose only model gives these answers in turn; the tool "add" does nothing. */
async function rudeRuntime(
  answers: ((headers: Readonly<Record<string, unknown>>) => RudeAnswer)[],
  provider: (url: string) => ProviderFactory,
) {
  const server = await serveRudely((headers) => (answers.shift() ?? (() => ({ body: [FINISH] })))(headers));
  closeAfterTest(() => server.close());
  const model = { provider: provider(server.url) } as ScriptedModel;
  return testRuntime({ registry: helperRegistry({ model }) });
}

const MEGABYTE = 'x'.repeat(1024 * 1024);
const says = (text: string) => () => ({ body: [event({ content: text }), FINISH] });

describe('a thread whose provider', () => {
  it.each<[string, () => Iterable<string>]>([
    ['says 100 MB', () => Array.from({ length: 100 }, () => event({ content: MEGABYTE }))],
    [
      'asks for 2,500 tools',
      () => [
        ...Array.from({ length: 2500 }, (_, index) =>
          event({ tool_calls: [{ index, id: `c${index}`, function: { name: 'add', arguments: '{}' } }] }),
        ),
        FINISH,
      ],
    ],
  ])('%s fails with AnswerTooLarge, and answers the next message', async (_title, body) => {
    const runtime = await rudeRuntime([() => ({ body: body() }), says('Here.')], (url) =>
      openaiCompatible({ baseUrl: url }),
    );
    const id = await runtime.start('Hello');
    expect(await runtime.store.threads.get(id)).toMatchObject({
      status: 'failed',
      lastError: { code: 'AnswerTooLarge', message: expect.stringContaining('was rejected') },
    });
    const failed = (await runtime.store.events.read(id, 0)).filter((event) => event.type === 'model.failed');
    expect(failed).toMatchObject([{ data: { call: 1, code: 'AnswerTooLarge' } }]);
    await runtime.say(id, 'Again');
    expect(await runtime.transcript(id)).toEqual(['user: Hello', 'user: Again', 'assistant: Here.']);
    expect(await runtime.store.threads.get(id)).toMatchObject({ status: 'idle' });
  });

  it('[definitions 16] echoes its API key in many forms has none of them stored', async () => {
    const key = `sk/${MARK}&"4711"+${MARK}`;
    const told = (header: unknown) => {
      const sent = String(header).replace('Bearer ', '');
      const base64 = Buffer.from(`user:${sent}`).toString('base64');
      return [
        sent,
        base64,
        base64.replace(/(.{9})/g, '$1\n'),
        encodeURI(sent),
        Buffer.from(sent).toString('hex'),
        sent.replace(/[&"]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`),
        JSON.stringify(JSON.stringify(sent)),
      ].join(' | ');
    };
    const heard: string[] = [];
    const refuse = (headers: Readonly<Record<string, unknown>>): RudeAnswer => {
      heard.push(told(headers.authorization));
      const error = { message: `No such key: ${heard[0]}`, code: told(headers.authorization) };
      return {
        status: 401,
        headers: { 'content-type': 'application/json' },
        body: [JSON.stringify({ error })],
      };
    };
    const runtime = await rudeRuntime([refuse], (url) => openaiCompatible({ baseUrl: url, apiKey: key }));
    const id = await runtime.start('Hello');
    expect(findMarks(heard[0] as string)).not.toEqual([]);
    const thread = await runtime.store.threads.get(id);
    expect(thread).toMatchObject({ status: 'failed', lastError: { code: 'auth_error' } });
    expect(thread?.lastError?.message).toContain('[redacted]');
    const kept = JSON.stringify([thread, await runtime.store.events.read(id, 0), await runtime.messages(id)]);
    expect(findMarks(kept)).toEqual([]);
    expect(kept).not.toContain(Buffer.from(MARK).toString('hex'));
  });
});
