/** Two AI sides of one thread in the store (definitions §12.3): who acts, in which role, and its immediate calls. */
import { describe, expect, it } from '@jest/globals';
import type { Side } from '../../../src/core/author/thread-execution.ts';
import type { Session } from '../../../src/core/thread/session.ts';
import type { BeginStep, CommitStep } from '../../../src/store/step/step-record.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver, tool } from '../thread-driver.ts';

type Items = BeginStep['items'];
type Fields = Partial<Omit<BeginStep, 'threadId' | 'runId'>>;

const TWO: Fields = { twoSides: true };
const at = (side: Side, turns = 0): Fields => ({ twoSides: true, session: { side, turns } });
const fromA = (id: string) => message(id, `content of ${id}`, { role: 'assistant' });
const rule = (id: string) => message(id, 'a rule', { role: 'system' });

const sessionOf = async (thread: ThreadDriver): Promise<Session | undefined> =>
  (await thread.store.threads.get(thread.id))?.session;

/** Takes one whole step of the side that must act; returns the side. */
async function act(
  thread: ThreadDriver,
  items: Items,
  fields: Fields,
  answer: Partial<CommitStep> = {},
): Promise<Side> {
  const ref = await thread.beginCall(items, fields);
  const committed = await thread.commit(ref, answer);
  if (committed.kind !== 'stored') throw new Error(`The answer was not stored: ${committed.kind}.`);
  thread.afterStep = ref.step;
  return committed.record.side;
}

async function sideOf(thread: ThreadDriver, step: number): Promise<Side> {
  return (await thread.store.steps.readContext(thread.id, step)).side;
}

export function registerSide(given: () => Stores): void {
  describe('a step of two AI sides', () => {
    it.each<[string, Items, Side]>([
      ['a message of role user', [message('m')], 'a'],
      ['a message of role assistant', [fromA('m')], 'b'],
      ['the first of several', [fromA('m1'), message('m2')], 'b'],
      ['the first that speaks for a side', [rule('r'), fromA('m')], 'b'],
      ['a message, not a queued tool before it', [tool('t', 'look'), fromA('m')], 'b'],
    ])('[definitions 22.40] belongs to the side that answers %s', async (_what, items, side) => {
      const thread = await openThread(given().store);
      const begun = await thread.begin(items, TWO);
      expect(await sessionOf(thread)).toEqual({ side, turns: 0 });
      const step = begun.kind === 'call' ? begun.step : 1;
      expect(await sideOf(thread, step)).toBe(side);
    });

    it('[definitions 12.3] stores its side’s messages under the role of that side', async () => {
      const thread = await openThread(given().store);
      expect(await act(thread, [message('m', 'topic')], TWO, { content: 'A speaks' })).toBe('a');
      const calls = [call('c', 'look')];
      expect(await act(thread, [], at('b', 1), { content: 'B speaks', toolCalls: calls })).toBe('b');
      await thread.runTool(2, 0);
      expect(await thread.transcript()).toEqual([
        'user: topic',
        'assistant: A speaks',
        'user: B speaks -> look',
        'look success: done',
      ]);
      expect(await sessionOf(thread)).toEqual({ side: 'b', turns: 1 });
    });

    it('counts the steps of each side in their execution', async () => {
      const thread = await openThread(given().store);
      await act(thread, [message('m')], TWO);
      await act(thread, [], at('b', 1));
      await act(thread, [], at('a', 2));
      await act(thread, [], at('b', 3), { toolCalls: [call('c', 'look')] });
      expect(await thread.store.steps.readContext(thread.id, 4)).toMatchObject({
        side: 'b',
        stepCount: 4,
        sideSteps: { a: 2, b: 2 },
      });
      expect(await thread.beginTool(4, 0)).toMatchObject({ side: 'b', sideSteps: { a: 2, b: 2 } });
      await thread.rest('idle');
      thread.executionId = 'execution-2';
      await act(thread, [message('again')], TWO);
      expect(await thread.store.steps.readContext(thread.id, 5)).toMatchObject({ sideSteps: { a: 1, b: 0 } });
    });

    it('keeps its side when it is started again, whatever the session is', async () => {
      const thread = await openThread(given().store);
      await thread.begin([fromA('m')], { ...TWO, ordinal: 7 });
      const again = await thread.begin([fromA('m')], { ...at('a', 5), ordinal: 7 });
      expect(again).toMatchObject({ kind: 'call', step: 1, attempt: 2 });
      expect(await sideOf(thread, 1)).toBe('b');
      expect(await sessionOf(thread)).toEqual({ side: 'b', turns: 0 });
    });

    it('is returned with its side when it is taken over, and leaves the session unchanged', async () => {
      const thread = await openThread(given().store);
      await act(thread, [message('m')], TWO);
      await act(thread, [], at('b', 1));
      // A reset: the new run has seen neither of the steps.
      const reset = thread.as('run-2');
      expect(await reset.begin([], at('a', 0))).toMatchObject({
        kind: 'stored',
        record: { step: 2, side: 'b' },
      });
      expect(await sessionOf(thread)).toEqual({ side: 'b', turns: 1 });
    });

    it('answers a message that arrived while another step was taken over, whatever the session is', async () => {
      const thread = await openThread(given().store);
      await act(thread, [message('m')], TWO, { toolCalls: [call('c', 'look')] });
      const revived = thread.as('run-2');
      expect(await revived.begin([fromA('n')], at('a'))).toMatchObject({
        kind: 'stored',
        record: { step: 1, side: 'a', moreInput: false },
      });
      await revived.runTool(1, 0);
      revived.afterStep = 1;
      expect(await act(revived, [], at('a'))).toBe('b');
    });

    it('[definitions 12.3] runs queued tools as the acting side, and shows hooks the same', async () => {
      const thread = await openThread(given().store);
      const items = [tool('t', 'look')];
      const pending = await thread.store.queue.readPending({
        ...thread.from,
        ordinal: 0,
        afterStep: 0,
        items,
        ...at('b', 3),
      });
      expect(pending).toMatchObject({ side: 'b', rows: [{ message: { role: 'user' } }] });
      const begun = await thread.begin(items, at('b', 3));
      expect(begun).toMatchObject({ kind: 'stored', record: { kind: 'tools', side: 'b' } });
      expect(await thread.transcript()).toEqual(['user:  -> look']);
      expect((await thread.messages())[0]?.metadata).toEqual({ queuedTool: true });
    });

    it('shows hooks the acting side by the first message', async () => {
      const thread = await openThread(given().store);
      const query = { ...thread.from, ordinal: 0, afterStep: 0, ...at('a', 2) };
      expect((await thread.store.queue.readPending({ ...query, items: [fromA('m')] })).side).toBe('b');
      expect((await thread.store.queue.readPending({ ...query, items: [rule('r')] })).side).toBe('a');
    });

    it('follows the role that a hook gave to the first message', async () => {
      const thread = await openThread(given().store);
      const prepared = [{ id: 'm', role: 'assistant' as const }];
      await thread.begin([message('m')], { ...TWO, prepared });
      expect(await sessionOf(thread)).toMatchObject({ side: 'b' });
    });

    it('keeps its streamed text under the role of its side when it is stopped', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([fromA('m')], TWO);
      await thread.chunk(ref, 'B had be');
      await thread.rest('stopped', { session: { side: 'b', turns: 0 } });
      expect((await thread.messages()).at(-1)).toMatchObject({
        role: 'user',
        content: 'B had be',
        metadata: { stopped: true },
      });
      expect(await sessionOf(thread)).toEqual({ side: 'b', turns: 0 });
    });

    it.each(['stopped', 'failed'] as const)(
      'that %s has no answer known to the workflow: its side acts again',
      async (status) => {
        const thread = await openThread(given().store);
        const ref = await thread.beginCall([fromA('m')], at('a', 2));
        const error = { code: 'Down', message: 'no' };
        if (status === 'failed') await thread.store.steps.fail({ ...ref, error });
        thread.afterStep = 1;
        const { session } = at('a', 2);
        await thread.rest(status, { session });
        expect(await sessionOf(thread)).toEqual({ side: 'b', turns: 2 });
        await thread.begin([tool('t', 'look')], at('a', 2));
        expect(await sideOf(thread, 2)).toBe('b');
      },
    );

    it('loses a call removed by a hook from a message of either side', async () => {
      const thread = await openThread(given().store);
      const toolCalls = [call('c1', 'look'), call('c2', 'count')];
      await act(thread, [fromA('m')], TWO, { content: 'B', toolCalls });
      await thread.beginTool(1, 0);
      await thread.commitTool(1, 0, { result: null });
      expect(await thread.transcript()).toEqual(['assistant: content of m', 'user: B -> count']);
    });
  });

  describe('a session', () => {
    it('is stored where the thread became idle, and returned to the next run', async () => {
      const thread = await openThread(given().store);
      await act(thread, [message('m')], TWO);
      await thread.rest('idle', { session: { side: 'b', turns: 1 }, reason: 'max_side_steps' });
      expect(await thread.as('run-2').open()).toMatchObject({
        thread: { session: { side: 'b', turns: 1 }, stopReason: 'max_side_steps' },
      });
    });

    it('is unchanged by a thread with one AI side', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('m')]);
      await thread.rest('idle');
      expect(await sessionOf(thread)).toEqual({ side: 'a', turns: 0 });
    });

    it('answers a message of side a only with two AI sides', async () => {
      const thread = await openThread(given().store);
      expect(await thread.begin([fromA('m1')])).toMatchObject({ kind: 'nothing_to_do' });
      expect(await thread.begin([fromA('m2')], TWO)).toMatchObject({ kind: 'call' });
      expect(await thread.begin([rule('r')], TWO)).toMatchObject({ kind: 'call' });
    });
  });

  describe('the history of a step of two AI sides', () => {
    const WINDOW = { includeChat: true, includePastTools: true, recentImages: 0, twoSides: true };

    /** An earlier execution in which side A has read a large result. Then a step of the given side. */
    async function withPast(side: Side): Promise<[ThreadDriver, number]> {
      const thread = await openThread(given().store);
      await act(thread, [message('u')], TWO, {
        messageId: 'ac',
        content: 'x',
        toolCalls: [call('c', 'look')],
      });
      await thread.beginTool(1, 0);
      const result = { status: 'success', result: 'y'.repeat(10_000) } as const;
      await thread.commitTool(1, 0, { result, message: { id: 'ar' } });
      await act(thread, [], at('a'), { messageId: 'a', content: 'A' });
      await act(thread, [], at('b', 1), { messageId: 'b', content: 'B' });
      await thread.rest('idle');
      thread.executionId = 'now';
      const { step } = await thread.beginCall([side === 'a' ? message('now') : fromA('now')], TWO);
      return [thread, step];
    }

    it.each<[Side, number, string, number]>([
      ['b', 100, 'u ac ar a b now', 0],
      ['a', 100, 'b now', 4],
      ['a', 10_000, 'u ac ar a b now', 0],
      // The history starts with a message of side A, which side B reads as a user message.
      ['b', 25, 'ac ar a b now', 1],
    ])(
      '[runtime 4a] has room for all but the other side’s tool calls: side %s with %i tokens is "%s"',
      async (side, tokens, expected, trimmed) => {
        const [thread, step] = await withPast(side);
        const context = await thread.store.steps.readContext(thread.id, step, () => ({ ...WINDOW, tokens }));
        expect(context.messages.map(({ id }) => id).join(' ')).toBe(expected);
        expect(context.trimmed).toBe(trimmed);
      },
    );
  });

  describe('immediate calls of a side', () => {
    const calls = (key: string, ...names: string[]) => ({
      key,
      tools: names.map((name, n) => tool(`${key}-${n}`, name, { n })),
    });

    it('[runtime 7.3] run before its first model step as queued tools, and the model is called next', async () => {
      const thread = await openThread(given().store);
      const immediate = { a: calls('helper:a', 'greet', 'fetch') };
      expect(await thread.begin([message('m')], { immediate })).toEqual({
        kind: 'stored',
        swept: 0,
        taken: { a: 0, b: 0 },
        record: {
          step: 1,
          kind: 'immediate',
          text: false,
          model: null,
          side: 'a',
          agent: 'helper',
          turns: 0,
          calls: ['greet', 'fetch'],
          moreInput: true,
        },
      });
      expect(await thread.beginTool(1, 1)).toMatchObject({
        kind: 'run',
        call: { name: 'fetch', arguments: '{"n":1}', origin: 'code' },
      });
      expect((await thread.messages()).map(({ role, metadata }) => ({ role, metadata })).slice(1)).toEqual([
        { role: 'assistant', metadata: { queuedTool: true, immediate: true } },
        { role: 'assistant', metadata: { queuedTool: true, immediate: true } },
      ]);
      await thread.commitTool(1, 1);
      await thread.runTool(1, 0);
      thread.afterStep = 1;
      expect(await thread.begin([], { immediate })).toMatchObject({ kind: 'call', step: 2 });
    });

    it('[runtime 7.3] run once, and again for an agent that gets the thread by handoff, even a second time', async () => {
      const thread = await openThread(given().store);
      const first = { immediate: { a: calls('helper:a', 'greet') } };
      await thread.begin([message('m')], { ...first, ordinal: 0 });
      // Both the answer and the worker were lost.
      expect(await thread.begin([message('m')], { ...first, ordinal: 0 })).toMatchObject({
        record: { step: 1 },
      });
      await thread.runTool(1, 0);
      thread.afterStep = 1;
      await act(thread, [], { ...first, ordinal: 1 });
      await thread.rest('idle');
      thread.afterStep = 2;
      const handOver = async (to: string, ordinal: number) => {
        const toolCalls = [call('c0', to)];
        const ref = await thread.beginCall([message(`m${ordinal}`)], { ordinal });
        const { step } = ref;
        await thread.commit(ref, { toolCalls });
        await thread.beginTool(step, 0);
        await thread.commitTool(step, 0, { nextAgent: to });
        thread.afterStep = step;
      };
      await handOver('clerk', 2);
      const other = { immediate: { a: calls('clerk:a', 'greet') } };
      // The clerk has the thread now, so its immediate calls are made.
      expect(await thread.begin([message('o')], { ...other, ordinal: 3 })).toMatchObject({
        record: { step: 4, calls: ['greet'] },
      });
      await thread.runTool(4, 0);
      thread.afterStep = 4;
      await handOver('helper', 4);
      const again = { immediate: { a: { key: 'helper:a', tools: [tool('again', 'greet', {})] } } };
      expect(await thread.begin([message('p')], { ...again, ordinal: 5 })).toMatchObject({
        record: { step: 6, calls: ['greet'] },
      });
    });

    it('[runtime 7.3] never run after the first model step, nor for an agent without the thread', async () => {
      const thread = await openThread(given().store);
      const others = { immediate: { a: calls('clerk:a', 'greet') } };
      await act(thread, [message('m')], { ...others, ordinal: 0 });
      await thread.rest('idle');
      const late = { immediate: { a: calls('helper:a', 'greet') } };
      expect(await thread.begin([message('n')], { ...late, ordinal: 1 })).toMatchObject({ kind: 'call' });
    });

    it('[runtime 7.3] are those of the acting side', async () => {
      const thread = await openThread(given().store);
      const immediate = { a: calls('helper:a', 'greet'), b: calls('helper:b', 'fetch') };
      expect(await thread.begin([fromA('m')], { ...TWO, immediate })).toMatchObject({
        record: { side: 'b', calls: ['fetch'] },
      });
      expect((await thread.messages()).at(-1)?.role).toBe('user');
      await thread.runTool(1, 0);
      thread.afterStep = 1;
      expect(await act(thread, [], { ...at('a'), immediate })).toBe('b');
      expect(await thread.begin([], { ...at('a', 1), immediate })).toMatchObject({
        record: { side: 'a', calls: ['greet'] },
      });
    });

    it('run after queued tools, and not at all if there is nothing to answer', async () => {
      const thread = await openThread(given().store);
      const immediate = { a: calls('helper:a', 'greet') };
      expect(await thread.begin([], { immediate })).toMatchObject({ kind: 'nothing_to_do' });
      const begun = await thread.begin([tool('t', 'look'), message('m')], { immediate });
      expect(begun).toMatchObject({ record: { step: 1, calls: ['look'] } });
      await thread.runTool(1, 0);
      thread.afterStep = 1;
      expect(await thread.begin([], { immediate })).toMatchObject({ record: { step: 2, calls: ['greet'] } });
    });
  });
}
