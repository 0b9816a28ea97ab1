/** readContext of a sub-prompt's step: which messages its model sees (definitions §12.6, §22.8). */
import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver } from '../thread-driver.ts';
import { begin, finish, opened, say, withPromptCall } from './subprompt-driver.ts';

export function registerSubpromptContext(given: () => Stores): void {
  describe('the context of a sub-prompt', () => {
    const roles = async (thread: ThreadDriver, step: number, includeChat: boolean) => {
      const window = () => ({ includeChat, includePastTools: true, recentImages: 0 });
      const { messages } = await thread.store.steps.readContext(thread.id, step, window);
      return messages.map(({ role, content }) => `${role}: ${content}`);
    };

    it('[definitions 12.6] has only its own messages, unless its prompt includes the chat', async () => {
      const thread = await withPromptCall(given);
      const { step } = await opened(thread, {
        message: { id: 'first', content: 'what of x?', attachments: [] },
      });
      expect(await roles(thread, step, false)).toEqual(['user: what of x?']);
      expect(await roles(thread, step, true)).toEqual(['user: content of a', 'user: what of x?']);
    });

    it('excludes messages whose calls have no result yet, and the results of their other calls', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { content: null, toolCalls: [call('c0', 'look')] });
      await thread.runTool(1, 0);
      thread.afterStep = 1;
      const toolCalls = [call('c0', 'look'), call('c1', 'consult')];
      await thread.answer([message('b')], { content: 'both', toolCalls });
      await thread.runTool(2, 0);
      await begin(thread, 2, 1);
      const { step } = await opened(thread, {}, { step: 2, index: 1 });
      expect(await roles(thread, step, true)).toEqual([
        'user: content of a',
        'assistant: null',
        'tool: done',
        'user: content of b',
      ]);
    });

    it('excludes messages of another sub-prompt', async () => {
      const thread = await withPromptCall(given, 'consult');
      await say(thread, await opened(thread));
      await finish(thread);
      await begin(thread, 1, 1);
      const second = await opened(thread, {}, { step: 1, index: 1 });
      expect(await roles(thread, second.step, true)).toEqual(['user: content of a']);
    });
  });
}
