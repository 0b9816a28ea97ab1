/** beginTool, commitTool, settleLostTool: at most once (runtime §5). */
import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver } from '../thread-driver.ts';

async function withCalls(given: () => Stores, ...names: string[]): Promise<ThreadDriver> {
  const thread = await openThread(given().store);
  const toolCalls = names.map((name, n) => call(`c${n}`, name, `{"n":${n}}`));
  await thread.answer([message('a')], { content: null, toolCalls });
  return thread;
}

const results = async (thread: ThreadDriver) =>
  (await thread.messages()).filter(({ role }) => role === 'tool');

export function registerTool(given: () => Stores): void {
  describe('a tool call', () => {
    it('[runtime 5.1] is scheduled, started, and done', async () => {
      const thread = await withCalls(given, 'look');
      expect(await thread.beginTool(1, 0)).toMatchObject({
        kind: 'run',
        call: { name: 'look', callId: 'c0', arguments: '{"n":0}', origin: 'model' },
        thread: { id: thread.id, agent: 'helper' },
      });
      const result = { status: 'success', result: 'seen' } as const;
      expect(await thread.commitTool(1, 0, { result })).toEqual({ kind: 'stored', queued: 0 });
      expect(await results(thread)).toMatchObject([
        { name: 'look', tool_call_id: 'c0', content: 'seen', tool_status: 'success', status: 'completed' },
      ]);
      expect(await thread.events('tool.started', 'tool.result')).toMatchObject([
        { type: 'tool.started', step: 1, data: { name: 'look', callId: 'c0' } },
        { type: 'tool.result', step: 1, data: { name: 'look', callId: 'c0', status: 'success' } },
      ]);
    });

    it("[definitions 14.1] carries the thread's newest messages if its body may read them", async () => {
      const thread = await withCalls(given, 'look', 'look');
      await thread.runTool(1, 0);
      const key = { ...thread.from, step: 1, index: 1, attempt: 'attempt-1', idempotent: () => false };
      const begun = await given().store.toolCalls.begin({ ...key, history: true });
      const recent = await given().store.messages.recent(thread.id);
      expect(begun).toMatchObject({ kind: 'run', history: recent });
      expect(recent.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
      expect(await given().store.toolCalls.begin(key)).toEqual(
        expect.not.objectContaining({ history: expect.anything() }),
      );
    });

    it.each([
      [{ status: 'success', result: 'seen' }, 'seen'],
      [{ status: 'success', result: '' }, 'The tool succeeded and returned nothing.'],
      [{ status: 'success' }, 'The tool succeeded and returned nothing.'],
      [{ status: 'error', error: 'boom' }, 'Failed to execute tool: boom'],
      [{ status: 'error' }, 'Failed to execute tool: no reason was given'],
    ] as const)('[runtime 5.2] with the result %j reads %j', async (result, content) => {
      const thread = await withCalls(given, 'look');
      await thread.beginTool(1, 0);
      await thread.commitTool(1, 0, { result });
      expect(await results(thread)).toMatchObject([{ content, tool_status: result.status }]);
    });

    it('starts and ends once, though its attempt repeats both', async () => {
      const thread = await withCalls(given, 'look');
      const begun = await thread.beginTool(1, 0);
      expect(await thread.beginTool(1, 0)).toMatchObject({ kind: begun.kind });
      expect(await thread.events('tool.started')).toHaveLength(1);
      const queuedTools = [{ id: 'q1', name: 'tidy', arguments: {} }];
      expect(await thread.commitTool(1, 0, { queuedTools })).toEqual({ kind: 'stored', queued: 1 });
      const before = await thread.everything();
      expect(await thread.commitTool(1, 0, { queuedTools })).toEqual({ kind: 'stored', queued: 1 });
      expect(await thread.everything()).toEqual(before);
    });

    it('does not start a second time for another attempt', async () => {
      const thread = await withCalls(given, 'look');
      await thread.beginTool(1, 0);
      const before = await thread.everything();
      expect(await thread.beginTool(1, 0, 'attempt-2')).toEqual({ kind: 'begun_elsewhere', name: 'look' });
      expect(await thread.everything()).toEqual(before);
      expect(await thread.commitTool(1, 0)).toMatchObject({ kind: 'stored' });
    });

    it('starts again for another attempt if it is idempotent, and the first attempt is late', async () => {
      const thread = await withCalls(given, 'look');
      await thread.beginTool(1, 0, 'attempt-1', true);
      expect(await thread.beginTool(1, 0, 'attempt-2', true)).toMatchObject({ kind: 'run' });
      expect(await thread.commitTool(1, 0, { result: { status: 'success', result: 'late' } })).toEqual({
        kind: 'late',
      });
      expect(await thread.commitTool(1, 0, { attempt: 'attempt-2' })).toMatchObject({ kind: 'stored' });
      expect(await results(thread)).toMatchObject([{ content: 'done' }]);
    });

    it('is settled for any command after its result', async () => {
      const thread = await withCalls(given, 'look');
      await thread.runTool(1, 0);
      const settled = { kind: 'settled', name: 'look', state: 'done', status: 'success' };
      expect(await thread.beginTool(1, 0, 'attempt-2')).toEqual(settled);
      expect(await thread.beginTool(1, 0, 'attempt-2', true)).toEqual(settled);
    });

    it('logs a late result once, and stores no second message', async () => {
      const thread = await withCalls(given, 'look');
      await thread.beginTool(1, 0);
      await thread.settleLostTool(1, 0);
      const late = { result: { status: 'success', result: 'it did happen' } } as const;
      expect(await thread.commitTool(1, 0, late)).toEqual({ kind: 'late' });
      expect(await thread.commitTool(1, 0, late)).toEqual({ kind: 'late' });
      expect(await thread.events('tool.late_result')).toMatchObject([
        { step: 1, data: { name: 'look', callId: 'c0', status: 'success', result: 'it did happen' } },
      ]);
      expect(await results(thread)).toHaveLength(1);
    });

    it('queues tools with its result, or not at all', async () => {
      const thread = await withCalls(given, 'look', 'count');
      const queuedTools = [
        { id: 'q1', name: 'tidy', arguments: { all: true } },
        { id: 'q2', name: 'rest', arguments: {} },
      ];
      await thread.beginTool(1, 0);
      await thread.settleLostTool(1, 0);
      expect(await thread.commitTool(1, 0, { queuedTools })).toEqual({ kind: 'late' });
      expect(await thread.stash()).toEqual({ waiting: 0 });
      await thread.beginTool(1, 1);
      expect(await thread.commitTool(1, 1, { queuedTools })).toEqual({ kind: 'stored', queued: 2 });
      expect(await thread.stash()).toEqual({ waiting: 2 });
      thread.afterStep = 1;
      expect(await thread.begin()).toMatchObject({
        kind: 'stored',
        swept: 2,
        record: { step: 2, calls: ['tidy', 'rest'] },
      });
      expect(await thread.beginTool(2, 0)).toMatchObject({
        call: { arguments: '{"all":true}', origin: 'code' },
      });
    });

    it('keeps the result of a body whose start the database lost in a crash', async () => {
      const thread = await withCalls(given, 'look');
      const idle = await thread.commitTool(1, 0, { attempt: 'attempt-1' });
      expect(idle).toEqual({ kind: 'stored', queued: 0 });
      expect(await thread.commitTool(1, 0, { attempt: 'attempt-1' })).toEqual(idle);
      expect(await thread.commitTool(1, 0, { attempt: 'attempt-2' })).toEqual({ kind: 'late' });
      expect(await results(thread)).toMatchObject([{ tool_status: 'success' }]);
      expect((await thread.events('tool.started', 'tool.result')).map(({ type }) => type)).toEqual([
        'tool.started',
        'tool.result',
      ]);
    });

    it('has its result though a message already uses its id', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('1.0:c0'), message('c0')], { toolCalls: [call('c0', 'look')] });
      await thread.runTool(1, 0);
      expect(await results(thread)).toHaveLength(1);
    });
  });

  describe('a tool call whose worker was lost', () => {
    it('may be dispatched again if it had not started', async () => {
      const thread = await withCalls(given, 'look');
      const before = await thread.everything();
      expect(await thread.settleLostTool(1, 0)).toEqual({ kind: 'redispatch', name: 'look' });
      expect(await thread.everything()).toEqual(before);
      expect(await thread.beginTool(1, 0)).toMatchObject({ kind: 'run' });
    });

    it('has an unknown outcome if it had started, and the model is told', async () => {
      const thread = await withCalls(given, 'look');
      await thread.beginTool(1, 0);
      const settled = { kind: 'settled', name: 'look', state: 'unknown', status: 'error' };
      expect(await thread.settleLostTool(1, 0)).toEqual(settled);
      const before = await thread.everything();
      expect(await thread.settleLostTool(1, 0)).toEqual(settled);
      expect(await thread.beginTool(1, 0, 'attempt-2', true)).toEqual(settled);
      expect(await thread.everything()).toEqual(before);
      expect(await results(thread)).toMatchObject([
        {
          tool_status: 'error',
          metadata: { outcome: 'unknown' },
          content: expect.stringContaining('unknown'),
        },
      ]);
      expect(await thread.events('tool.unknown')).toHaveLength(1);
    });

    it('stays done if it was done', async () => {
      const thread = await withCalls(given, 'look');
      await thread.runTool(1, 0);
      const before = await thread.everything();
      expect(await thread.settleLostTool(1, 0)).toEqual({
        kind: 'settled',
        name: 'look',
        state: 'done',
        status: 'success',
      });
      expect(await thread.everything()).toEqual(before);
    });

    it('of an ended thread is terminated, and a late result is only logged', async () => {
      const thread = await withCalls(given, 'look', 'count');
      await thread.beginTool(1, 0);
      await thread.rest('terminated');
      expect(await thread.beginTool(1, 1)).toEqual({ kind: 'terminated' });
      expect(await thread.settleLostTool(1, 0)).toEqual({ kind: 'terminated' });
      const messages = await thread.messages();
      expect(await thread.commitTool(1, 0)).toEqual({ kind: 'terminated' });
      expect(await thread.commitTool(1, 0)).toEqual({ kind: 'terminated' });
      expect(await thread.messages()).toEqual(messages);
      expect(await thread.events('tool.late_result')).toHaveLength(1);
    });
  });
}
