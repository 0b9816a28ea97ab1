/** Summaries of the older part of a history. */
import { describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../../src/core/event/thread-event.ts';
import type { HistoryWindow, SaveSummary } from '../../../src/store/step/step-place-record.ts';
import type { StepRef } from '../../../src/store/transaction/from-run.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver } from '../thread-driver.ts';

const KEY = { prompt: 'main', scope: '' };
const WINDOW: HistoryWindow = { includeChat: true, includePastTools: true, recentImages: 0, summaries: KEY };

export function registerSummary(stores: () => Stores): void {
  /** A thread with six answered messages, and an open step with a seventh. */
  async function talkedWith(): Promise<{ thread: ThreadDriver; ref: StepRef }> {
    const thread = await openThread(stores().store);
    for (let word = 1; word <= 6; word += 1) {
      thread.executionId = `execution-${word}`;
      thread.afterStep = (await thread.answer([message(`w${word}`)])).step;
      await thread.rest();
    }
    thread.executionId = 'execution-7';
    return { thread, ref: await thread.beginCall([message('w7')]) };
  }

  const read = ({ store, id }: ThreadDriver, { step }: StepRef, window: Partial<HistoryWindow> = {}) =>
    store.steps.readContext(id, step, () => ({ ...WINDOW, ...window }));

  /** Builds a summary that covers the first `count` messages of the history. */
  async function summarise(
    thread: ThreadDriver,
    ref: StepRef,
    count: number,
    fields: Partial<SaveSummary> = {},
  ): Promise<SaveSummary> {
    const { messages, thread: record, summary: before } = await read(thread, ref);
    const last = messages[count - 1];
    if (!last) throw new Error('There are fewer messages.');
    const total = (before?.messages ?? 0) + count;
    const summary = { until: last.created_at, messages: total, text: `of ${total}`, asked: 'w1' };
    const told = { reason: 'messages', seen: record.lastSeq, count } as const;
    return { ...ref, ...KEY, ...told, messageId: last.id, summary, ...fields };
  }
  const keep = async (thread: ThreadDriver, ref: StepRef, count: number, fields: Partial<SaveSummary> = {}) =>
    thread.store.steps.saveSummary(await summarise(thread, ref, count, fields));
  const told = async ({ store, id }: ThreadDriver) =>
    eventsOf(await store.events.read(id, 0, 1000), 'context.compacted').map(({ data }) => data);

  describe('summaries', () => {
    it('replace all messages up to their last one, which stay stored', async () => {
      const { thread, ref } = await talkedWith();
      expect(await keep(thread, ref, 8)).toMatchObject({ kind: 'kept', summary: { text: 'of 8' } });
      const { messages, summary, trimmed } = await read(thread, ref);
      expect(summary).toMatchObject({ messages: 8, text: 'of 8', asked: 'w1' });
      expect(messages.map(({ content }) => content)).toEqual([
        'content of w5',
        'an answer',
        'content of w6',
        'an answer',
        'content of w7',
      ]);
      expect(trimmed).toBe(0);
      expect((await read(thread, ref, { summaries: undefined })).messages).toHaveLength(13);
      expect(await told(thread)).toEqual([
        {
          ...{ prompt: 'main', messages: 8, covered: 8, summary: 'of 8', reason: 'messages' },
          messageId: (await read(thread, ref, { summaries: undefined })).messages[7]?.id,
        },
      ]);
    });

    it('are returned with the next step', async () => {
      const { thread, ref } = await talkedWith();
      await keep(thread, ref, 10);
      await thread.commit(ref);
      thread.afterStep = ref.step;
      const begun = await thread.begin([message('w8')], { request: () => ({ window: WINDOW }) });
      expect(begun).toMatchObject({ context: { summary: { messages: 10 }, trimmed: 0 } });
      expect(begun.kind === 'call' && begun.context?.messages.length).toBe(5);
    });

    it('are stored once for their last message: a second attempt gets the first one', async () => {
      const { thread, ref } = await talkedWith();
      const command = await summarise(thread, ref, 8);
      await thread.store.steps.saveSummary(command);
      const other = { ...command, summary: { ...command.summary, text: 'another' } };
      expect(await stores().second.steps.saveSummary(other)).toMatchObject({ summary: { text: 'of 8' } });
      expect(await told(thread)).toHaveLength(1);
    });

    it('follow one another, and the newest applies', async () => {
      const { thread, ref } = await talkedWith();
      await keep(thread, ref, 4);
      await keep(thread, ref, 4);
      const { summary, messages } = await read(thread, ref);
      expect(summary).toMatchObject({ messages: 8, text: 'of 8' });
      expect(messages).toHaveLength(5);
    });

    it.each<[string, Partial<HistoryWindow>]>([
      ['another prompt', { summaries: { prompt: 'other', scope: '' } }],
      ['an execution', { summaries: { prompt: 'main', scope: 'execution-7' } }],
    ])('of one prompt do not apply to %s', async (_whose, window) => {
      const { thread, ref } = await talkedWith();
      await keep(thread, ref, 8);
      const { summary, messages } = await read(thread, ref, window);
      expect(summary).toBeUndefined();
      expect(messages).toHaveLength(13);
    });

    it('cover messages of the current execution', async () => {
      const { thread, ref } = await talkedWith();
      await thread.commit(ref, { toolCalls: [call('c', 'look')] });
      await thread.runTool(ref.step, 0);
      thread.afterStep = ref.step;
      const next = await thread.beginCall();
      await keep(thread, next, 15);
      const { messages, trimmed } = await read(thread, next);
      expect(messages).toEqual([]);
      expect(trimmed).toBe(0);
    });

    it('report how many messages between them and the window were omitted', async () => {
      const { thread, ref } = await talkedWith();
      await keep(thread, ref, 4);
      const { messages, trimmed } = await read(thread, ref, { tokens: 30 });
      expect(messages.length).toBeLessThan(9);
      expect(trimmed).toBe(9 - messages.length);
    });

    it.each<[string, (thread: ThreadDriver, id: string) => Promise<unknown>]>([
      [
        'whose content is changed',
        ({ store, id }, each) => store.messages.update(id, each, { content: 'else' }),
      ],
      ['that is removed', ({ store, id }, each) => store.messages.delete(id, each)],
    ])('that cover a message %s no longer apply; the previous one does again', async (_how, change) => {
      const { thread, ref } = await talkedWith();
      const all = (await read(thread, ref)).messages;
      await keep(thread, ref, 4);
      await keep(thread, ref, 4);
      await change(thread, all[9]?.id as string);
      expect((await read(thread, ref)).summary).toMatchObject({ messages: 8 });
      await change(thread, all[4]?.id as string);
      expect((await read(thread, ref)).summary).toMatchObject({ messages: 4 });
      await change(thread, all[3]?.id as string);
      expect((await read(thread, ref)).summary).toBeUndefined();
    });

    it('survive a change of metadata, which no model reads', async () => {
      const { thread, ref } = await talkedWith();
      const [first] = (await read(thread, ref)).messages;
      await keep(thread, ref, 8);
      await thread.store.messages.update(thread.id, first?.id as string, { metadata: { seen: true } });
      expect((await read(thread, ref)).summary).toMatchObject({ messages: 8 });
    });

    it('are not stored if a covered message changed meanwhile', async () => {
      const { thread, ref } = await talkedWith();
      const command = await summarise(thread, ref, 8);
      await thread.store.messages.update(thread.id, command.messageId, { content: 'else' });
      expect(await thread.store.steps.saveSummary(command)).toEqual({ kind: 'outdated' });
      expect((await read(thread, ref)).summary).toBeUndefined();
      expect(await told(thread)).toEqual([]);
    });

    it('are not stored for a step that ended or has another attempt', async () => {
      const { thread, ref } = await talkedWith();
      const command = await summarise(thread, ref, 8);
      const late = { ...command, attempt: ref.attempt + 1 };
      expect(await thread.store.steps.saveSummary(late)).toEqual({ kind: 'closed' });
      await thread.commit(ref);
      expect(await thread.store.steps.saveSummary(command)).toEqual({ kind: 'closed' });
      expect(await told(thread)).toEqual([]);
    });
  });
}
