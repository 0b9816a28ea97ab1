/** Requests to models as they were sent: kept with their calls, read again, emptied with the messages that they show. */
import { describe, expect, it } from '@jest/globals';
import { toProviderMessage } from '../../../src/core/context/context-provider.ts';
import type { ProviderMessage, ProviderRequest } from '../../../src/core/message/provider.ts';
import type { SentRequest } from '../../../src/store/request/request-record.ts';
import type { CommitStep } from '../../../src/store/step/step-record.ts';
import type { ThreadStore } from '../../../src/store/store.ts';
import type { StepRef } from '../../../src/store/transaction/from-run.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver, tool } from '../thread-driver.ts';

const SYSTEM: ProviderMessage = { role: 'system', content: 'You help.' };
const TOOLS: ProviderRequest['tools'] = [
  { type: 'function', function: { name: 'look', description: 'looks', parameters: { type: 'object' } } },
];
const usage = { promptTokens: 10, completionTokens: 2, totalTokens: 12 };

interface Asked extends Partial<Omit<SentRequest, 'request'>> {
  readonly request?: Partial<ProviderRequest>;
  /** Changes the messages as a hook does. */
  readonly hook?: (messages: readonly ProviderMessage[]) => readonly ProviderMessage[];
  readonly store?: ThreadStore;
}

/** The request of a step, made of the thread's messages. */
export async function makeSent(thread: ThreadDriver, ref: StepRef, asked: Asked = {}): Promise<SentRequest> {
  const { request, hook = (messages) => messages, store = thread.store, ...fields } = asked;
  const { messages: rows } = await store.steps.readContext(thread.id, ref.step);
  const made = rows.map((row) => toProviderMessage(row, { pictures: new Map() }));
  return {
    chain: 'a:main',
    provider: 'scripted',
    origins: { rows, made },
    stored: rows,
    ownPrompt: true,
    ...fields,
    request: {
      model: 'm-1',
      messages: hook([SYSTEM, ...made]),
      tools: TOOLS,
      providerOptions: {},
      ...request,
    },
  };
}

/** Answers the step; returns what was sent. */
async function answer(
  thread: ThreadDriver,
  ref: StepRef,
  { store = thread.store, ...asked }: Asked = {},
  fields: Partial<CommitStep> = {},
): Promise<SentRequest> {
  const sent = await makeSent(thread, ref, { ...asked, store });
  await store.modelCalls.start({ ...ref, call: 1, model: 'main', modelId: 'm-1' });
  await thread.as(thread.runId, store).commit(ref, { call: { call: 1, usage, sent }, ...fields });
  thread.afterStep = ref.step;
  return sent;
}

export function registerRequests(stores: () => Stores): void {
  const read = async (thread: ThreadDriver, id: string, store = stores().store) =>
    store.modelCalls.readRequest(thread.id, id);
  const shown = ({ request }: SentRequest) => JSON.parse(JSON.stringify(request));

  /** A thread whose step 1 has called a tool, and whose step 2 has answered; with their requests. */
  async function talked() {
    const thread = await openThread(stores().store);
    const ref = await thread.beginCall([message('w1', 'look at it')]);
    const first = await answer(
      thread,
      ref,
      {},
      { content: null, toolCalls: [call('c1', 'look', '{"at":1}')] },
    );
    await thread.runTool(ref.step, 0);
    const second = await answer(thread, await thread.beginCall());
    return { thread, first, second };
  }

  describe('requests of model calls', () => {
    it('are read as they were sent', async () => {
      const { thread, first, second } = await talked();
      expect(second.request.messages.map(({ role }) => role)).toEqual([
        'system',
        'user',
        'assistant',
        'tool',
      ]);
      for (const [id, sent] of [
        ['1.1.1', first],
        ['2.1.1', second],
      ] as const) {
        const { request, gaps, sizes } = await read(thread, id);
        expect(request).toEqual(shown(sent));
        expect(gaps).toEqual([]);
        expect(sizes.tools).toBe(JSON.stringify(TOOLS).length);
        expect(sizes.system).toBe(JSON.stringify(SYSTEM).length);
      }
    });

    it('are listed with their calls', async () => {
      const { thread } = await talked();
      const list = stores().store.modelCalls.list;
      const [one, two] = await list(thread.id);
      expect(one).toMatchObject({
        ...{ id: '1.1.1', kind: 'step', side: 'a', prompt: 'main', model: 'main', modelId: 'm-1' },
        ...{ provider: 'scripted', messages: 2, status: 'ok', request: 'kept', usage },
      });
      expect(two).toMatchObject({ id: '2.1.1', messages: 4, bytes: expect.any(Number) });
      expect(await list(thread.id, { after: '1.1.1' })).toEqual([two]);
      expect(await list(thread.id, { limit: 1 })).toEqual([one]);
      expect(await list(thread.id, { order: 'desc' })).toEqual([two, one]);
      expect(await list(thread.id, { order: 'desc', limit: 1 })).toEqual([two]);
      expect(await list(thread.id, { order: 'desc', after: '2.1.1' })).toEqual([one]);
      await expect(list(thread.id, { after: 'first' })).rejects.toMatchObject({ code: 'InvalidValue' });
    });

    it('of immediate subagents are no summaries, whatever their numbers', async () => {
      const thread = await openThread(stores().store);
      const { store } = thread;
      await thread.begin([tool('t1', 'envoy')]);
      const ref = { ...thread.from, step: 1, attempt: 1, call: 10_101 };
      await store.modelCalls.start({ ...ref, model: 'main', modelId: 'm-1' });
      await store.modelCalls.end({ ...ref, ok: true, usage });
      expect(await store.modelCalls.list(thread.id)).toMatchObject([{ id: '1.1.10101', kind: 'bootstrap' }]);
      const [log] = (await store.events.getLogs(thread.id)).filter(({ type }) => type === 'model_call');
      expect(log?.data.purpose).toBeUndefined();
    });

    it('say how they differ from the one before', async () => {
      const { thread } = await talked();
      expect(await read(thread, '1.1.1')).toMatchObject({ changedFrom: null, diff: [] });
      expect(await read(thread, '2.1.1')).toMatchObject({
        changedFrom: '1.1.1',
        diff: [
          { position: 2, change: 'added' },
          { position: 3, change: 'added' },
        ],
      });
      await thread.rest();
      const ref = await thread.beginCall([message('w2')]);
      const system = { role: 'system', content: 'You help today.' } as const;
      await answer(thread, ref, { hook: ([, , ...rest]) => [system, ...rest] });
      expect(await read(thread, '3.1.1')).toMatchObject({
        changedFrom: '2.1.1',
        diff: [
          { position: 1, change: 'removed' },
          { position: 0, change: 'changed' },
          { position: 3, change: 'added' },
          { position: 4, change: 'added' },
        ],
      });
    });

    it('go on where another process has left', async () => {
      const { thread } = await talked();
      await thread.rest();
      const { second } = stores();
      // It shows a message differently, which this process does not learn of.
      const hook: Asked['hook'] = ([system, , ...rest]) => [
        system as ProviderMessage,
        { role: 'user', content: 'look!' },
        ...rest,
      ];
      const sent = await answer(thread, await thread.beginCall([message('w2')]), { store: second, hook });
      expect((await read(thread, '3.1.1')).request).toEqual(shown(sent));
      expect(await read(thread, '3.1.1')).toMatchObject({ changedFrom: '2.1.1' });
      await thread.rest();
      const later = await answer(thread, await thread.beginCall([message('w3')]));
      expect((await read(thread, '4.1.1')).request).toEqual(shown(later));
    });

    it('show messages that hooks made, changed and left out', async () => {
      const { thread } = await talked();
      await thread.rest();
      const note: ProviderMessage = { role: 'user', content: 'It is noon.' };
      for (const [id, text] of [
        ['w2', 'one'],
        ['w3', 'two'],
      ] as const) {
        const sent = await answer(thread, await thread.beginCall([message(id)]), {
          hook: ([system, first, ...rest]) => [
            system as ProviderMessage,
            { ...first, content: `changed ${text}` } as ProviderMessage,
            ...rest.slice(0, -1),
            note,
            ...rest.slice(-1),
          ],
        });
        const step = thread.afterStep;
        expect((await read(thread, `${step}.1.1`)).request).toEqual(shown(sent));
        await thread.rest();
      }
      expect((await read(thread, '3.1.1')).diff).toContainEqual({ position: 1, change: 'changed' });
    });

    it('show images and metadata of providers as digests', async () => {
      const thread = await openThread(stores().store);
      const picture = { type: 'image', data: 'A'.repeat(4000), mediaType: 'image/png' } as const;
      const sent = await answer(thread, await thread.beginCall([message('w1', 'see')]), {
        hook: ([system]) => [
          system as ProviderMessage,
          { role: 'user', content: [{ type: 'text', text: 'see' }, picture] },
          { role: 'assistant', content: 'ok', reasoningDetails: [{ type: 'x', data: 'sealed' }] as never },
        ],
      });
      const { request, sizes } = await read(thread, '1.1.1');
      const messages = request.messages as readonly Record<string, never>[];
      const digest = expect.stringMatching(/^[\w-]{22}$/);
      expect(messages[1]?.content).toEqual([
        { type: 'text', text: 'see' },
        { type: 'image', mediaType: 'image/png', data: { digest, bytes: 4000 } },
      ]);
      expect(messages[2]?.reasoningDetails).toEqual({ digest, bytes: expect.any(Number) });
      expect(JSON.stringify(request)).not.toMatch(/sealed|AAAA/);
      expect(sizes.messages).toBeGreaterThan(JSON.stringify(sent.request.messages).length - 100);
    });

    it('have a gap where a message was deleted or changed', async () => {
      const { thread, second } = await talked();
      await thread.store.messages.update(thread.id, 'w1', { content: 'look away' });
      const changed = await read(thread, '2.1.1');
      expect(changed.gaps).toEqual([{ position: 1, reason: 'edited' }]);
      expect(changed.request.messages).toEqual(
        shown(second).messages.with(1, { role: 'user', content: null }),
      );
      await thread.rest();
      const sent = await answer(thread, await thread.beginCall([message('w2')]));
      expect((await read(thread, '3.1.1')).request).toEqual(shown(sent));
      expect((await read(thread, '3.1.1')).diff).toContainEqual({ position: 1, change: 'changed' });
      const [, asked] = await thread.messages();
      await thread.store.messages.delete(thread.id, asked?.id ?? '');
      expect((await read(thread, '2.1.1')).gaps).toEqual([
        { position: 1, reason: 'edited' },
        { position: 2, reason: 'deleted' },
        { position: 3, reason: 'deleted' },
      ]);
      // The result went with its call.
      expect((await read(thread, '3.1.1')).gaps.map(({ position }) => position)).toEqual([2, 3]);
    });

    it('keep no text that shows or may quote a message that was deleted', async () => {
      const thread = await openThread(stores().store);
      const quote: ProviderMessage = { role: 'user', content: 'They said: my secret word' };
      const hook = (messages: readonly ProviderMessage[]) => [
        ...messages.map((each) => (each.role === 'user' ? { ...each, content: `<${each.content}>` } : each)),
        quote,
      ];
      await answer(thread, await thread.beginCall([message('w1', 'my secret word')]), { hook });
      expect(JSON.stringify(await read(thread, '1.1.1'))).toContain('my secret word');
      await thread.store.messages.delete(thread.id, 'w1');
      const left = await read(thread, '1.1.1');
      expect(JSON.stringify(left)).not.toContain('secret');
      expect(left.gaps).toEqual([
        { position: 1, reason: 'deleted' },
        { position: 2, reason: 'deleted' },
      ]);
      expect(left.request).toMatchObject({ messages: [SYSTEM, { role: 'user' }, { role: 'user' }] });
      await thread.rest();
      // The same text again, in this process and in another one.
      for (const store of [thread.store, stores().second]) {
        const sent = await answer(thread, await thread.beginCall([message(`w${thread.afterStep + 1}`)]), {
          hook: (messages) => [...messages, quote],
          store,
        });
        expect((await read(thread, `${thread.afterStep}.1.1`)).request).toEqual(shown(sent));
        await thread.rest();
      }
    });

    it('are not kept of an attempt whose worker was lost, and not mixed with it if that reports late', async () => {
      const thread = await openThread(stores().store);
      const ref = await thread.beginCall([message('w1')], { ordinal: 7 });
      const { store } = thread;
      const sent = await makeSent(thread, ref);
      await store.modelCalls.start({ ...ref, call: 1, model: 'main', modelId: 'm-1' });
      await expect(read(thread, '1.1.1')).rejects.toMatchObject({ code: 'RequestRemoved' });
      const again = await thread.beginCall([], { ordinal: 7 });
      expect(again.attempt).toBe(2);
      expect(await store.modelCalls.list(thread.id)).toMatchObject([{ status: 'lost', request: 'lost' }]);
      await expect(read(thread, '1.1.1')).rejects.toMatchObject({
        code: 'RequestRemoved',
        message: expect.stringMatching(/worker was lost/),
      });
      const error = { code: 'server_error', message: 'late' };
      await store.modelCalls.end({ ...ref, call: 1, ok: false, error, sent });
      const answered = await answer(thread, again, { store: stores().second });
      expect((await read(thread, '1.1.1')).request).toEqual(shown(sent));
      expect((await read(thread, '1.2.1')).request).toEqual(shown(answered));
    });

    it('are kept once, though a call ends twice', async () => {
      const { thread } = await talked();
      await thread.rest();
      const ref = await thread.beginCall([message('w2')]);
      const sent = await answer(thread, ref);
      const { store } = thread;
      await store.modelCalls.keepAborted({ ...ref, call: 1, sent: { ...sent, chain: 'a:other' } });
      await thread.commit(ref, { call: { call: 1, usage, sent: { ...sent, chain: 'a:other' } } });
      expect((await store.modelCalls.list(thread.id)).at(-1)).toMatchObject({ id: '3.1.1', prompt: 'main' });
    });

    it('are kept of a call that was given up before its end', async () => {
      const thread = await openThread(stores().store);
      const ref = await thread.beginCall([message('w1')]);
      const sent = await makeSent(thread, ref);
      await thread.store.modelCalls.start({ ...ref, call: 1, model: 'main', modelId: 'm-1' });
      await thread.store.modelCalls.keepAborted({ ...ref, call: 1, sent });
      expect((await read(thread, '1.1.1')).request).toEqual(shown(sent));
    });

    it('of two prompts and of two threads share nothing', async () => {
      const { thread, second } = await talked();
      const other = await openThread(thread.store);
      await answer(other, await other.beginCall([message('w1', 'look at it')]));
      await thread.store.threads.terminate(other.id);
      await thread.store.threads.remove(other.id);
      expect((await read(thread, '2.1.1')).request).toEqual(shown(second));
      await expect(read(other, '1.1.1')).rejects.toMatchObject({ code: 'ModelCallNotFound' });
      await thread.rest();
      await answer(thread, await thread.beginCall([message('w2')]), { chain: 'a:second' });
      expect(await read(thread, '3.1.1')).toMatchObject({ changedFrom: null });
    });

    it('of an unknown call are refused with an error that names it', async () => {
      const { thread } = await talked();
      for (const id of ['9.1.1', 'x', '1.1'])
        await expect(read(thread, id)).rejects.toMatchObject({
          code: 'ModelCallNotFound',
          message: expect.stringContaining(`"${id}"`),
        });
    });
  });
}
