/** A handoff in the store (definitions §12.7): stored with the call's result, applied by the next step. */
import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver } from '../thread-driver.ts';

async function withCalls(given: () => Stores, ...names: string[]): Promise<ThreadDriver> {
  const thread = await openThread(given().store);
  const toolCalls = names.map((name, n) => call(`c${n}`, name));
  await thread.answer([message('a')], { content: null, toolCalls });
  return thread;
}

async function handOver(thread: ThreadDriver, index: number, agent: string, input?: string): Promise<void> {
  await thread.beginTool(1, index);
  await thread.commitTool(1, index, {
    nextAgent: agent,
    ...(input === undefined ? {} : { nextInput: message(`first-${index}`, input) }),
  });
}

const agentOf = async (thread: ThreadDriver) => (await thread.store.threads.get(thread.id))?.agent;

export function registerHandoff(given: () => Stores): void {
  describe('a handoff', () => {
    it('[definitions 12.7] changes the agent with the next step, and is logged', async () => {
      const thread = await withCalls(given, 'clerk');
      await handOver(thread, 0, 'clerk');
      expect(await agentOf(thread)).toBe('helper');
      thread.afterStep = 1;
      await thread.beginCall([]);
      expect(await agentOf(thread)).toBe('clerk');
      expect(await thread.events('thread.agent')).toMatchObject([{ data: { from: 'helper', to: 'clerk' } }]);
    });

    it('leaves a step taken over by a new run to the agent that started it', async () => {
      const thread = await withCalls(given, 'clerk', 'look');
      await handOver(thread, 0, 'clerk');
      const again = thread.as('run-2');
      expect(await again.begin()).toMatchObject({ kind: 'stored', record: { step: 1 } });
      await again.runTool(1, 1);
      expect(await agentOf(thread)).toBe('helper');
      const third = thread.as('run-3');
      expect(await third.begin()).toMatchObject({ kind: 'stored', record: { step: 1 } });
      expect(await agentOf(thread)).toBe('helper');
    });

    it('[definitions 12.7] queues its input; of two in one step the last wins, with its input', async () => {
      const thread = await withCalls(given, 'clerk', 'boss');
      await handOver(thread, 0, 'clerk', 'for the clerk');
      await handOver(thread, 1, 'boss', 'for the boss');
      thread.afterStep = 1;
      await thread.beginCall([]);
      expect(await agentOf(thread)).toBe('boss');
      const said = (await thread.messages()).filter(({ role }) => role === 'user');
      expect(said.map(({ content }) => content)).toEqual(['content of a', 'for the boss']);
      expect(said[1]?.metadata).toEqual({ handoff: 'boss' });
    });

    it('drops no message of another sender, whatever its metadata', async () => {
      const thread = await withCalls(given, 'clerk', 'boss');
      await handOver(thread, 0, 'clerk', 'for the clerk');
      await thread.stash(message('mine', 'for whoever comes', { metadata: { handoff: 'clerk' } }));
      await handOver(thread, 1, 'boss');
      thread.afterStep = 1;
      await thread.beginCall([]);
      const said = (await thread.messages()).filter(({ role }) => role === 'user');
      expect(said.map(({ content }) => content)).toEqual(['content of a', 'for whoever comes']);
    });

    it.each(['idle', 'stopped', 'failed'] as const)(
      'takes effect if its execution ends %s, as every repeated commit returns',
      async (status) => {
        const thread = await withCalls(given, 'clerk');
        await handOver(thread, 0, 'clerk');
        expect(await thread.rest(status, { agent: 'helper' })).toMatchObject({
          kind: 'rest',
          agent: 'clerk',
        });
        expect(await thread.rest(status, { agent: 'helper' })).toMatchObject({ agent: 'clerk' });
        expect(await thread.rest(status, { agent: 'clerk' })).toEqual(
          expect.not.objectContaining({ agent: expect.anything() }),
        );
        expect(await agentOf(thread)).toBe('clerk');
        expect(await thread.events('thread.agent')).toHaveLength(1);
      },
    );

    it('is stored once, though its call is repeated', async () => {
      const thread = await withCalls(given, 'clerk');
      await handOver(thread, 0, 'clerk', 'hello');
      const before = await thread.everything();
      await handOver(thread, 0, 'clerk', 'hello');
      expect(await thread.everything()).toEqual(before);
    });
  });
}
