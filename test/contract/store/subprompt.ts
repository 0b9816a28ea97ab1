/** openSubprompt, readSubprompt, and how other commands treat the step of a sub-prompt (definitions §12.6). */
import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../store-contract.ts';
import { message, tool } from '../thread-driver.ts';
import { begin, deep, finish, open, opened, say, withPromptCall } from './subprompt-driver.ts';

export function registerSubprompt(given: () => Stores): void {
  describe("a sub-prompt's step", () => {
    it('[definitions 12.6] starts once for a call; a repeated start is its next attempt', async () => {
      const thread = await withPromptCall(given);
      const first = { id: 'first', content: 'what of x?', attachments: [] };
      expect(await open(thread, { message: first })).toEqual({ kind: 'call', step: 2, attempt: 1 });
      expect(await open(thread, { message: first })).toEqual({ kind: 'call', step: 2, attempt: 2 });
      expect(await deep(thread)).toMatchObject([{ role: 'user', content: 'what of x?', depth: 1 }]);
      expect(await thread.events('step.started', 'step.retried')).toMatchObject([
        { step: 1 },
        { step: 2, data: { prompt: 'consult', parentStep: 1, depth: 1 } },
        { step: 2, attempt: 2 },
      ]);
    });

    it('[definitions 12.6] stores its messages one level deeper, below the tool message with its result', async () => {
      const thread = await withPromptCall(given);
      const ref = await opened(thread, { message: { id: 'first', content: 'what of x?', attachments: [] } });
      expect(await say(thread, ref, 'look')).toMatchObject({
        kind: 'stored',
        record: { step: 2, kind: 'prompt', calls: ['look'], moreInput: false },
      });
      await thread.runTool(2, 0);
      await finish(thread);
      const result = (await thread.messages()).at(-1);
      expect(result).toMatchObject({ role: 'tool', name: 'consult', content: 'told', depth: 0 });
      expect((await deep(thread)).map(({ role, depth, parent_id: parent }) => [role, depth, parent])).toEqual(
        ['user', 'assistant', 'tool'].map((role) => [role, 1, result?.id]),
      );
      expect(await thread.transcript()).toEqual([
        'user: content of a',
        'assistant: let me ask -> consult',
        'consult success: told',
      ]);
    });

    it('[runtime 7.3] follows the immediate calls of its prompt, once they have their results', async () => {
      const thread = await withPromptCall(given);
      const asked = { prompt: 'consult', arguments: { topic: 'x' }, parentId: 'result-1-0' };
      const ask = (...names: string[]) =>
        thread.store.subprompts.openImmediate({
          ...{ ...thread.from, step: 1, index: 0, ...asked },
          tools: names.map((name) => tool(`at-once-${name}`, name, { n: 1 })),
        });
      expect(await ask()).toEqual({ kind: 'none' });
      const stored = { kind: 'stored', record: { step: 2, kind: 'prompt', calls: ['greet'] } };
      expect(await ask('greet')).toMatchObject(stored);
      // The answer was lost; which subagents are enabled by now does not matter.
      expect(await ask()).toMatchObject(stored);
      expect(await thread.store.subprompts.read(thread.id, 1, 0)).toBeNull();
      expect(await thread.beginTool(2, 0)).toMatchObject({
        call: { name: 'greet', origin: 'code' },
        subprompt: { prompt: 'consult', depth: 1, parentId: 'result-1-0' },
      });
      await thread.commitTool(2, 0);
      expect(await ask('greet')).toEqual({ kind: 'none' });
      await say(thread, await opened(thread));
      expect(await ask('greet')).toEqual({ kind: 'none' });
      expect(await thread.store.subprompts.read(thread.id, 1, 0)).toMatchObject({
        text: 'as I see it',
        calls: [],
      });
      expect((await deep(thread)).map(({ role, parent_id: parent }) => [role, parent])).toEqual(
        ['assistant', 'tool', 'assistant'].map((role) => [role, 'result-1-0']),
      );
    });

    it('is returned as stored once committed, and as over once its call has a result', async () => {
      const thread = await withPromptCall(given);
      await say(thread, await opened(thread), 'look');
      expect(await open(thread)).toMatchObject({ kind: 'stored', record: { step: 2, calls: ['look'] } });
      await thread.runTool(2, 0);
      await finish(thread);
      expect(await open(thread)).toEqual({ kind: 'over' });
    });

    it('returns the parts of its result', async () => {
      const thread = await withPromptCall(given);
      expect(await thread.store.subprompts.read(thread.id, 1, 0)).toBeNull();
      await say(thread, await opened(thread), 'look', 'tell');
      await thread.beginTool(2, 0);
      await thread.commitTool(2, 0, { result: { status: 'success', result: 'seen' }, directive: 'stop' });
      await thread.beginTool(2, 1);
      await thread.commitTool(2, 1, { result: { status: 'error', error: 'boom' } });
      expect(await thread.store.subprompts.read(thread.id, 1, 0)).toEqual({
        text: null,
        error: null,
        calls: [
          { name: 'look', arguments: '{"n":0}', status: 'success', content: 'seen' },
          { name: 'tell', arguments: '{"n":1}', status: 'error', content: 'Failed to execute tool: boom' },
        ],
        attachments: [],
        directive: 'stop',
      });
    });

    it('that failed returns its reason, without failing the thread', async () => {
      const thread = await withPromptCall(given);
      const ref = await opened(thread);
      await thread.store.steps.fail({ ...ref, error: { code: 'server_error', message: 'gone' } });
      expect(await thread.store.threads.get(thread.id)).toMatchObject({ lastError: null, status: 'running' });
      expect(await open(thread)).toEqual({ kind: 'over' });
      expect(await thread.store.subprompts.read(thread.id, 1, 0)).toMatchObject({
        text: null,
        error: { code: 'server_error', message: 'gone' },
      });
    });

    it('inside another is one level deeper, and has the path to it', async () => {
      const thread = await withPromptCall(given);
      await say(thread, await opened(thread), 'check');
      await begin(thread, 2, 0);
      const inner = await opened(thread, { prompt: 'check' }, { step: 2, index: 0 });
      const { subprompt } = await thread.store.steps.readContext(thread.id, inner.step);
      expect(subprompt).toMatchObject({ prompt: 'check', depth: 2, path: ['consult', 'check'] });
      await say(thread, inner);
      const [parent, said] = await deep(thread);
      expect([parent?.depth, said?.depth]).toEqual([1, 2]);
      expect(said?.parent_id).toBe(subprompt?.parentId);
    });

    it('does not consume the thread’s queued input', async () => {
      const thread = await withPromptCall(given);
      const ref = await opened(thread);
      await thread.chunk(ref, 'as I');
      await say(thread, ref);
      await finish(thread);
      thread.afterStep = 1;
      const next = await thread.beginCall([message('b')]);
      expect(next.step).toBe(3);
      expect(await thread.events('model.chunk')).toMatchObject([{ step: 2, data: { depth: 1 } }]);
      await thread.commit(next);
      expect((await thread.store.steps.readContext(thread.id, 3)).stepCount).toBe(2);
    });
  });

  describe("a thread with a sub-prompt's step", () => {
    it('resumes in a new run at the outer step, which finds the sub-prompt', async () => {
      const thread = await withPromptCall(given);
      await say(thread, await opened(thread), 'look');
      await thread.beginTool(2, 0);
      const again = thread.as('run-2');
      expect(await again.open()).toMatchObject({ turnOpen: true, afterStep: 0 });
      expect(await again.begin()).toMatchObject({
        kind: 'stored',
        record: { step: 1, kind: 'model', calls: ['consult'], moreInput: false },
      });
      expect(await begin(again)).toMatchObject({ kind: 'run', call: { name: 'consult' } });
      expect(await open(again)).toMatchObject({ kind: 'stored', record: { step: 2, calls: ['look'] } });
      expect(await again.beginTool(2, 0, 'another')).toMatchObject({ kind: 'begun_elsewhere' });
      expect(await again.settleLostTool(2, 0)).toMatchObject({ kind: 'settled', state: 'unknown' });
    });

    it('answers after its last own step, whatever steps a sub-prompt added', async () => {
      const thread = await withPromptCall(given);
      await say(thread, await opened(thread));
      await finish(thread);
      const again = thread.as('run-2');
      expect(await again.open()).toMatchObject({ turnOpen: true, afterStep: 0 });
      expect(await again.begin()).toMatchObject({
        kind: 'stored',
        record: { step: 1, kind: 'model', moreInput: false },
      });
      again.afterStep = 1;
      expect(await again.begin()).toMatchObject({ kind: 'call', step: 3 });
    });

    it.each(['stopped', 'terminated', 'failed', 'idle'] as const)(
      'that rests as %s leaves neither step nor call open, and keeps the streamed text',
      async (status) => {
        const thread = await withPromptCall(given, 'look');
        const ref = await opened(thread);
        await thread.chunk(ref, 'as I');
        await thread.rest(status);
        const [kept] = await deep(thread);
        expect(kept).toMatchObject({
          role: 'assistant',
          content: 'as I',
          depth: 1,
          metadata: { stopped: true },
        });
        const results = (await thread.messages()).filter(({ role }) => role === 'tool');
        expect(results.map(({ tool_status: outcome }) => outcome)).toEqual(['error', 'error']);
        expect(results[0]?.id).toBe(kept?.parent_id);
        expect(await say(thread, ref, 'look')).toEqual({
          kind: status === 'terminated' ? 'terminated' : 'closed',
        });
        if (status !== 'terminated') expect(await open(thread)).toEqual({ kind: 'over' });
      },
    );

    it('ends inner calls before the call around them', async () => {
      const thread = await withPromptCall(given);
      await say(thread, await opened(thread), 'look', 'tell');
      await thread.rest('stopped');
      const all = (await thread.store.messages.list(thread.id, { maxDepth: 9 })).messages;
      expect(all.filter(({ role }) => role === 'tool').map(({ name }) => name)).toEqual([
        'look',
        'tell',
        'consult',
      ]);
      thread.afterStep = 2;
      expect(await thread.begin()).toMatchObject({ kind: 'nothing_to_do' });
    });

    it('that ended cannot open its call', async () => {
      const thread = await withPromptCall(given);
      await thread.rest('terminated');
      expect(await open(thread)).toEqual({ kind: 'terminated' });
    });
  });
}
