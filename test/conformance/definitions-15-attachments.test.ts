/** definitions §15: files attached to messages, on their way from the sender to the model. */
import { describe, expect, it } from '@jest/globals';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import type { ToolResult } from '../../src/core/message/message.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { png } from '../support/image.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (buffer: ArrayBuffer | null) => (buffer ? new TextDecoder().decode(buffer) : null);
const note = { name: 'note.txt', mimeType: 'text/plain', data: bytes('remember') };
const silent = (times: number) => scriptedModel(Array.from({ length: times }, () => says('ok')));

/** A tool that does this one thing. */
const does = (act: (state: ThreadState) => Promise<string | ToolResult>) =>
  defineTool({
    description: 'acts',
    execute: async (state): Promise<ToolResult> => {
      const result = await act(state);
      return typeof result === 'string' ? { status: 'success', result } : result;
    },
  });

describe('definitions §15.4 attachments of a client', () => {
  it('[definitions 15.4] new content becomes a file of the thread, also before the thread has started', async () => {
    const runtime = await testRuntime({ model: silent(1) });
    const image = {
      name: 'cat.png',
      mimeType: 'image/png',
      data: png(4, 3).buffer as ArrayBuffer,
      description: 'a cat',
    };
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [
        { content: '', attachments: [note, image, { ...note, data: 'data:text/plain;base64,aGk=' }] },
      ],
    });
    await runtime.client.waitForIdle(threadId);
    const [message] = await runtime.messages(threadId);
    expect(message?.attachments).toMatchObject([
      { type: 'file', name: 'note.txt', mimeType: 'text/plain', size: 8 },
      { type: 'file', name: 'cat.png', mimeType: 'image/png', width: 4, height: 3, description: 'a cat' },
      { type: 'file', name: 'note.txt', size: 2 },
    ]);
    const paths = message?.attachments?.map(({ path }) => path) ?? [];
    expect(paths.every((path) => /^\/attachments\/[0-9a-f]{32}\.(txt|png)$/.test(path))).toBe(true);
    expect(text(await runtime.client.files(threadId).read(paths[0] as string))).toBe('remember');
  });

  it('[definitions 15.4] a message repeated under its id stores its files once', async () => {
    const runtime = await testRuntime({ model: silent(2) });
    const thread = await runtime.start('hi');
    const message = { id: 'once', content: 'take this', attachments: [note] };
    await runtime.client.queueMessage(thread, message);
    await runtime.client.sendMessage(thread, message);
    await runtime.client.waitForIdle(thread);
    const { entries } = await runtime.client.files(thread).readdir('/attachments');
    expect(entries).toHaveLength(1);
    const [path] = entries.map((entry) => entry.path);
    expect((await runtime.messages(thread)).filter(({ id }) => id === 'once')).toMatchObject([
      { attachments: [{ path }] },
    ]);
    const created = (await runtime.store.events.read(thread, 0)).filter(({ type }) =>
      type.startsWith('file.'),
    );
    expect(created).toMatchObject([
      { type: 'file.created', data: { path, mimeType: 'text/plain', size: 8 } },
    ]);
  });

  it('[definitions 15.4] a plain signal names files by path; a missing one does not fail the message', async () => {
    const model = silent(2);
    const runtime = await testRuntime({ model });
    const thread = await runtime.start('hi');
    await runtime.store.files.write(thread, {
      path: '/reports/a.csv',
      content: bytes('a,b'),
      mimeType: 'text/csv',
    });
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${thread}`);
    await handle.signal('queueMessage', { id: 's', attachments: ['reports/a.csv', '/gone.txt'] });
    await eventually(
      'the message is stored',
      async () => (await runtime.store.messages.get(thread, 's'))?.status === 'completed',
    );
    await runtime.client.waitForIdle(thread);
    expect(await runtime.store.messages.get(thread, 's')).toMatchObject({
      content: '',
      attachments: [{ path: '/reports/a.csv', name: 'a.csv', mimeType: 'text/csv', size: 3 }],
      metadata: { missingAttachments: ['/gone.txt'] },
    });
    expect(model.requests[1]?.messages.at(-1)?.content).toBe(
      '[file a.csv, text/csv, 3 bytes, /reports/a.csv]',
    );
  });

  it('[definitions 15.4] an invalid attachment is refused before anything is sent', async () => {
    const runtime = await testRuntime({ model: silent(1) });
    const thread = await runtime.start('hi');
    const send = (attachments: unknown, content = 'x') =>
      runtime.client.queueMessage(thread, { content, attachments: attachments as never });
    for (const bad of [
      Array(21).fill('/a'),
      ['x'.repeat(1025)],
      [''],
      [7],
      [{ name: 'a' }],
      [{ ...note, data: 'no!' }],
      [{ ...note, data: 7 }],
    ])
      await expect(send(bad)).rejects.toMatchObject({ code: 'InvalidMessage' });
    await expect(send([{ ...note, mimeType: 'nonsense' }])).rejects.toMatchObject({ code: 'InvalidValue' });
    await expect(send([], '')).rejects.toMatchObject({ code: 'InvalidMessage' });
    await expect(
      runtime.client.queueMessage('nobody', { content: 'x', attachments: [note] }),
    ).rejects.toMatchObject({ code: 'ThreadNotFound' });
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${thread}`);
    await handle.signal('queueMessage', { id: 'many', content: 'x', attachments: Array(21).fill('/a') });
    await handle.signal('queueMessage', { id: 'empty', content: '', attachments: [] });
    await eventually('both signals are refused', async () => {
      const events = await runtime.store.events.read(thread, 0);
      return events.filter((event) => event.type === 'item.rejected').length === 2;
    });
    expect(await runtime.messages(thread)).toHaveLength(2);
  });
});

describe('definitions §15.4 attachments of tools', () => {
  it('[definitions 15.4] of a result become files under unique names', async () => {
    const act = does(async () => ({
      status: 'success',
      result: 'done',
      attachments: [
        { name: '../../etc/pass\nwd', mimeType: 'text/plain', data: 'aGk=' },
        {
          name: 'no extension',
          mimeType: 'image/png',
          data: Buffer.from(png(2, 1)).toString('base64'),
          description: 'tiny',
        },
      ],
    }));
    const runtime = await testRuntime({ model: scriptedModel([calls('act'), says('ok')]), tools: { act } });
    const thread = await runtime.start('go');
    const result = (await runtime.messages(thread))[2];
    expect(result?.attachments).toMatchObject([
      {
        name: '../../etc/pass wd',
        size: 2,
        path: expect.stringMatching(/^\/attachments\/[0-9a-f]{32}\.txt$/),
      },
      {
        name: 'no extension',
        width: 2,
        height: 1,
        description: 'tiny',
        path: expect.stringMatching(/\.png$/),
      },
    ]);
  });

  it('[definitions 15.4] that cannot be stored leave the result a success that names them as missing', async () => {
    const act = does(async () => ({ status: 'success', result: 'drew it', attachments: ['/gone.png'] }));
    const runtime = await testRuntime({ model: scriptedModel([calls('act'), says('ok')]), tools: { act } });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread))[2]).toMatch(
      /^tool act success: drew it\n\(The attachments could not be stored: .*gone\.png/s,
    );
  });

  it('[definitions 14.2] of a queued message reach the model like those of a client', async () => {
    const act = does(async (state) => {
      const image = {
        name: 'shot.png',
        mimeType: 'image/png',
        data: Buffer.from(png(6, 5)).toString('base64'),
      };
      await state.queueMessage({ content: 'Here is the screen.', attachments: [image] });
      return 'queued';
    });
    const model = scriptedModel([calls('act'), says('I see')]);
    const runtime = await testRuntime({ model, tools: { act } });
    const thread = await runtime.start('go');
    const last = model.requests.at(-1)?.messages.at(-1);
    expect(last).toMatchObject({
      role: 'user',
      content: [{ type: 'text' }, { type: 'image', mediaType: 'image/png' }],
    });
    expect((await runtime.messages(thread))[3]).toMatchObject({
      attachments: [{ name: 'shot.png', width: 6 }],
    });
  });

  it('[definitions 14.2] are deleted with their message', async () => {
    const act = does(async (state) => {
      const { messages } = await state.getMessages();
      const [first] = messages;
      const path = first?.attachments?.[0]?.path as string;
      await state.deleteMessage(first?.id as string);
      return String(await state.statFile(path));
    });
    const runtime = await testRuntime({ model: scriptedModel([calls('act'), says('gone')]), tools: { act } });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'look', attachments: [note] }],
    });
    await runtime.client.waitForIdle(threadId);
    expect(await runtime.transcript(threadId)).toEqual([
      'assistant:  -> act',
      'tool act success: null',
      'assistant: gone',
    ]);
  });
});

describe('definitions §15.5 images that cannot be shown', () => {
  it('[definitions 15.5] are described in text, and never fail the step', async () => {
    const model = silent(1);
    const runtime = await testRuntime({ model });
    const fake = { name: 'fake.png', mimeType: 'image/png', data: bytes('no picture') };
    const wrong = { name: 'wrong.gif', mimeType: 'image/gif', data: png(2, 2) };
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'look', attachments: [fake, wrong] }],
    });
    await runtime.client.waitForIdle(threadId);
    const content = model.requests[0]?.messages[1]?.content as readonly {
      type: string;
      mediaType?: string;
      text?: string;
    }[];
    expect(content[0]?.text).toMatch(/\[image fake\.png, \S+, not shown: not an image that models can see\]/);
    // The type is that of the content, not of the file's name: providers refuse an image with the wrong media type.
    expect(content.slice(1)).toMatchObject([{ type: 'image', mediaType: 'image/png' }]);
  });
});
