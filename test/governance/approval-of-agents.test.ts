/** Calls of prompts and of subagents wait for their approval as calls of tools do: nothing begins before it. */
import { describe, expect, it } from '@jest/globals';
import { calls, type ScriptStep, says, scriptedModel } from '../../src/testing/index.ts';
import { promptProject } from '../support/prompt-project.ts';
import { testRuntime } from '../support/runtime.ts';

/** A thread whose model calls `name` once, which needs an approval, and which waits for it. */
async function calling(name: string, capability: string, behind: readonly ScriptStep[]) {
  const model = scriptedModel([calls(name, {}), ...behind]);
  const registry = promptProject({
    model,
    main: { tools: [name] },
    prompts: { advise: {}, clerk_desk: {} },
    policy: { [capability]: 'require_approval' },
    agents: {
      worker: {
        type: 'dual_ai',
        exposeAsTool: true,
        toolDescription: 'works',
        sideA: { prompt: 'clerk_desk' },
        sideB: { prompt: 'clerk_desk' },
        maxSessionTurns: 2,
      },
    },
  });
  const runtime = await testRuntime({ model, registry });
  const { client } = runtime;
  const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
  expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'waiting' });
  const [wait] = await client.listWaits({ threadId });
  if (!wait) throw new Error('Nothing waits.');
  const asked = model.requests.length;
  const children = await runtime.store.children.list(threadId);
  const results = async () => {
    const { messages } = await client.getMessages(threadId);
    return messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  };
  return { runtime, client, threadId, wait, asked, children, results };
}

describe('an approval of a call of', () => {
  it.each([
    ['a prompt', 'advise', 'prompt.call', [says('advice')], 'completed'],
    // The worker's session ends only by its limit of turns, which is no success.
    ['a subagent', 'worker', 'agent.delegate', [says('one'), says('two')], 'failed'],
  ])(
    '[PL-09] %s is asked for before anything of it begins, and lets it be done once',
    async (_, name, capability, own, state) => {
      const run = await calling(name, capability, [...own, says('done')]);
      expect(run.asked).toBe(1);
      expect(run.children).toEqual([]);
      expect(run.wait).toMatchObject({
        kind: 'approval',
        name,
        blocks: true,
        data: { capabilities: [capability], actionId: `${run.threadId}:1:0` },
      });
      await run.client.answerWait(run.wait.id, { approved: true });
      expect(await run.client.waitForIdle(run.threadId)).toMatchObject({ status: 'idle' });
      const actions = await run.client.listActions({ threadId: run.threadId });
      expect(actions).toMatchObject([{ name, state }]);
      expect(await run.runtime.store.children.list(run.threadId)).toHaveLength(name === 'worker' ? 1 : 0);
    },
  );

  it.each([
    ['a prompt', 'advise', 'prompt.call'],
    ['a subagent', 'worker', 'agent.delegate'],
  ])(
    '[PL-10] %s that is refused leaves nothing begun, and the model reads why',
    async (_, name, capability) => {
      const run = await calling(name, capability, [says('I see.')]);
      await run.client.answerWait(run.wait.id, { approved: false, reason: 'not today', by: 'Ada' });
      expect(await run.client.waitForIdle(run.threadId)).toMatchObject({ status: 'idle' });
      expect(await run.results()).toEqual([expect.stringContaining('Ada refused its approval: not today')]);
      expect(await run.runtime.store.children.list(run.threadId)).toEqual([]);
      expect(await run.client.listActions({ threadId: run.threadId })).toMatchObject([{ state: 'denied' }]);
    },
  );
});
