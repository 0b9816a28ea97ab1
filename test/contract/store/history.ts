/** readContext: how much of a thread's history a step reads (runtime §4). */
import { describe, expect, it } from '@jest/globals';
import type { HistoryWindow, StepContext } from '../../../src/store/step/step-place-record.ts';
import type { BeginStep } from '../../../src/store/step/step-record.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver } from '../thread-driver.ts';

const ALL: HistoryWindow = { includeChat: true, includePastTools: true, recentImages: 0 };

/** One past execution for each text: a user message, a call, its result, an answer. Then an open step. */
async function withPast(given: () => Stores, texts: readonly string[]): Promise<[ThreadDriver, number]> {
  const thread = await openThread(given().store);
  for (const [n, text] of texts.entries()) {
    thread.executionId = `past-${n}`;
    const asked = await thread.answer([message(`u${n}`, text)], {
      messageId: `c${n}`,
      content: null,
      toolCalls: [call('call', 'look')],
    });
    await thread.beginTool(asked.step, 0);
    await thread.commitTool(asked.step, 0, { message: { id: `r${n}` } });
    thread.afterStep = asked.step;
    const answered = await thread.answer([], { messageId: `a${n}`, content: text });
    thread.afterStep = answered.step;
    await thread.rest();
  }
  thread.executionId = 'now';
  const { step } = await thread.beginCall([message('now', 'now')]);
  return [thread, step];
}

const RUN_2 = { runId: 'run-2' };

/** Takes a step with a call, and stores its result. */
async function answeredTool(
  thread: ThreadDriver,
  { context, nextAgent }: { readonly context?: string; readonly nextAgent?: string } = {},
): Promise<void> {
  const asked = await thread.answer([message('first')], { toolCalls: [call('c1', 'look')], context });
  await thread.beginTool(asked.step, 0);
  await thread.commitTool(asked.step, 0, { nextAgent });
  thread.afterStep = asked.step;
}

const ids = ({ messages }: StepContext) => messages.map(({ id }) => id).join(' ');

export function registerHistory(given: () => Stores): void {
  describe('the history of a step', () => {
    const read = async (texts: readonly string[], window?: HistoryWindow) => {
      const [thread, step] = await withPast(given, texts);
      return thread.store.steps.readContext(thread.id, step, window && (() => window));
    };

    it('[definitions 12.2] is complete without options', async () => {
      const context = await read(['one', 'two']);
      expect(ids(context)).toBe('u0 c0 r0 a0 u1 c1 r1 a1 now');
      expect(context).toMatchObject({ trimmed: 0, step: 5, executionId: 'now' });
    });

    it.each<[Partial<HistoryWindow>, string]>([
      [{ includeChat: false }, 'now'],
      [{ includeChat: false, includePastTools: false, tokens: 1 }, 'now'],
      [{ includePastTools: false }, 'u0 c0 a0 u1 c1 a1 now'],
      [{}, 'u0 c0 r0 a0 u1 c1 r1 a1 now'],
      [{ tokens: 100_000 }, 'u0 c0 r0 a0 u1 c1 r1 a1 now'],
      [{ tokens: 100_000, includePastTools: false }, 'u0 c0 a0 u1 c1 a1 now'],
    ])('[definitions 22.8] with %j is "%s"', async (window, expected) => {
      const context = await read(['one', 'two'], { ...ALL, ...window });
      expect(ids(context)).toBe(expected);
      expect(context.trimmed).toBe(0);
    });

    it('is selected by the position of the step, and has the fields of the model’s answers', async () => {
      const [thread, step] = await withPast(given, []);
      await thread.commit(
        { ...thread.from, step, attempt: 1 },
        { reasoning: 'hm', prompt: 'main', content: 'x' },
      );
      await thread.rest();
      thread.afterStep = step;
      const ref = await thread.beginCall([message('b')]);
      const context = await thread.store.steps.readContext(thread.id, ref.step, (place) => {
        expect(place).toMatchObject({
          thread: { id: thread.id },
          step: ref.step,
          executionId: 'now',
          subprompt: null,
        });
        return ALL;
      });
      expect(context.messages[1]).toMatchObject({ reasoning: 'hm', prompt: 'main' });
      expect(context.messages[0]).toMatchObject({ reasoning: null, prompt: null });
    });

    // A message of 400 characters counts as some 104 tokens; a call and a short result as some 20 each.
    const long = (n: number) => Array.from({ length: n }, (_, index) => `${index} `.padEnd(400, 'x'));

    it('[runtime 4] is its newest part that fits the window', async () => {
      const context = await read(long(10), { ...ALL, tokens: 600 });
      expect(ids(context)).toBe('u8 c8 r8 a8 u9 c9 r9 a9 now');
      expect(context.trimmed).toBe(32);
    });

    it('[runtime 4] begins with a user message, and has no result without its call', async () => {
      const [thread, step] = await withPast(given, long(6));
      for (const tokens of [20, 130, 150, 180, 250, 380, 400, 430, 480, 700]) {
        const context = await thread.store.steps.readContext(thread.id, step, () => ({ ...ALL, tokens }));
        const [first, ...rest] = context.messages;
        const known = new Set<string>();
        for (const each of [first, ...rest]) {
          if (each?.role === 'tool') expect(known).toContain(`${each.step}`);
          if (each?.tool_calls) known.add(`${each.step}`);
        }
        if (context.messages.some(({ id }) => id.startsWith('u'))) expect(first?.role).toBe('user');
        expect(context.messages.length + context.trimmed).toBe(25);
      }
    });

    it("[definitions 22.7] always includes the step's own execution, whatever its length", async () => {
      const [thread, step] = await withPast(given, ['one']);
      const huge = 'y'.repeat(10_000);
      const toolCalls = [call('own', 'look')];
      const committed = await thread.commit(
        { ...thread.from, step, attempt: 1 },
        { content: huge, toolCalls },
      );
      expect(committed.kind).toBe('stored');
      await thread.runTool(step, 0);
      thread.afterStep = step;
      const ref = await thread.beginCall();
      for (const tokens of [0, 10, 2000]) {
        const context = await thread.store.steps.readContext(thread.id, ref.step, () => ({ ...ALL, tokens }));
        expect(context.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
        expect(context.trimmed).toBe(4);
      }
    });

    it('[runtime 4] of a thousand messages is read in pages up to the end of the window', async () => {
      const [thread, step] = await withPast(given, []);
      const items = Array.from({ length: 300 }, (_, n) => ({
        id: `m${n}`,
        role: 'user' as const,
        content: `${n}`,
      }));
      for (const item of items) await thread.store.messages.inject(thread.id, { ...item, executionId: null });
      const whole = await thread.store.steps.readContext(thread.id, step, () => ({
        ...ALL,
        tokens: 1_000_000,
      }));
      expect(whole).toMatchObject({ trimmed: 0 });
      expect(ids(whole)).toBe(['now', ...items.map(({ id }) => id)].join(' '));
      // Each message counts as five tokens.
      const part = await thread.store.steps.readContext(thread.id, step, () => ({ ...ALL, tokens: 1005 }));
      expect(ids(part)).toBe(['now', ...items.slice(100).map(({ id }) => id)].join(' '));
      expect(part.trimmed).toBe(100);
    });

    it('counts a recent image at its size', async () => {
      const [thread, step] = await withPast(given, []);
      const file = {
        type: 'file',
        path: '/attachments/a.png',
        name: 'a.png',
        mimeType: 'image/png',
        size: 1,
      } as const;
      for (let n = 0; n < 4; n++) {
        const attachments = [{ ...file, id: `${n}` }];
        await thread.store.messages.inject(thread.id, {
          id: `i${n}`,
          role: 'user',
          content: 'x',
          attachments,
          executionId: null,
        });
      }
      const count = async (recentImages: number) =>
        (
          await thread.store.steps.readContext(thread.id, step, () => ({
            ...ALL,
            tokens: 2100,
            recentImages,
          }))
        ).messages.length;
      expect(await count(10)).toBe(3);
      expect(await count(0)).toBe(5);
      // The step's own message is the newest.
      expect(await count(2)).toBe(5);
    });

    // A name, what happens before the begin, and fields of the begin.
    const SITUATIONS: [string, (thread: ThreadDriver) => Promise<unknown>, Partial<BeginStep>][] = [
      ['of a new thread', async () => undefined, {}],
      ['behind a result, with its execution', answeredTool, {}],
      ['that hooks have left a scratch for', answeredTool, { context: '{"n":1}' }],
      ['in an execution with a scratch', (thread) => answeredTool(thread, { context: '{"n":2}' }), {}],
      ['in an execution of its own', (thread) => answeredTool(thread).then(() => thread.rest()), {}],
      ['of the other side', answeredTool, { twoSides: true, session: { side: 'b', turns: 2 } }],
      ['that is tried again', (thread) => thread.begin([message('m')], { ordinal: 9 }), { ordinal: 9 }],
      ['in the place of one that a killed run had open', (thread) => thread.begin([message('m')]), RUN_2],
      ['of another agent', (thread) => answeredTool(thread, { nextAgent: 'other' }), {}],
    ];

    it.each(SITUATIONS)('is returned with the start of a step %s', async (_what, prepare, fields) => {
      const thread = await openThread(given().store);
      await prepare(thread);
      if (fields.runId) await thread.as(fields.runId).open();
      thread.executionId = 'now';
      const begun = await thread.begin([message('last')], { ...fields, request: () => ({ window: ALL }) });
      if (begun.kind !== 'call') throw new Error(`The step should call the model, not be ${begun.kind}.`);
      expect(begun.context).toEqual(await thread.store.steps.readContext(thread.id, begun.step));
    });

    it('[runtime 4] returned with a start is logged once if a part of it is omitted', async () => {
      const [thread, step] = await withPast(given, long(3));
      await thread.commit({ ...thread.from, step, attempt: 1 });
      thread.afterStep = step;
      const asked = { ordinal: 99, request: () => ({ window: { ...ALL, tokens: 300 } }) };
      const begun = await thread.begin([message('next')], asked);
      expect(begun).toMatchObject({ kind: 'call', noted: true });
      expect(await thread.begin([], asked)).toEqual(
        expect.not.objectContaining({ noted: expect.anything() }),
      );
      const { trimmed } = await thread.store.steps.readContext(thread.id, step + 1, () => ({
        ...ALL,
        tokens: 300,
      }));
      expect(trimmed).toBeGreaterThan(0);
      expect(await thread.events('context.trimmed')).toMatchObject([
        { step: step + 1, data: { messages: trimmed } },
      ]);
    });

    it('logs an event of a step once, if requested', async () => {
      const [thread, step] = await withPast(given, ['one']);
      const event = { type: 'context.trimmed' as const, data: { messages: 3 }, step, once: true };
      await thread.store.events.append(thread.id, event);
      await thread.store.events.append(thread.id, event);
      await thread.store.events.append(thread.id, { ...event, once: false });
      expect((await thread.events('context.trimmed')).map((each) => each.step)).toEqual([step, step]);
    });
  });
}
