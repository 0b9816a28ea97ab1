/** Calls of prompts and of subagents wait for their approval as calls of tools do: nothing begins before it. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { FaultPoint } from '../../src/activities/base/dependencies.ts';
import { calls, type ScriptStep, says, scriptedModel } from '../../src/testing/index.ts';
import { promptProject } from '../support/prompt-project.ts';
import { testRuntime } from '../support/runtime.ts';

interface Build {
  /** Arguments of the called prompt, and of the agents' prompts. */
  readonly requiredSchema?: z.ZodObject;
  readonly rule?: 'require_approval' | 'none';
}

/** A thread whose model calls `name` once, which needs an approval, and which waits for it. */
async function calling(name: string, capability: string, behind: readonly ScriptStep[]) {
  const model = scriptedModel([calls(name, {}), ...behind]);
  const project = ({ requiredSchema, rule = 'require_approval' }: Build = {}) =>
    promptProject({
      model,
      main: { tools: [name] },
      prompts: { advise: { requiredSchema }, clerk_desk: { requiredSchema } },
      policy: rule === 'none' ? undefined : { [capability]: rule },
      agents: {
        worker: {
          type: 'dual_ai',
          exposeAsTool: true,
          toolDescription: 'works',
          sideA: { prompt: 'clerk_desk' },
          sideB: { prompt: 'clerk_desk' },
          maxSessionTurns: 2,
        },
        clerk: { exposeAsTool: true, toolDescription: 'takes over' },
      },
    });
  let registry = project();
  /** Activities that begin from now on have these definitions, as those of a newer worker. */
  const deploy = (build: Build) => {
    registry = project(build);
  };
  const at = new Map<FaultPoint, () => void>();
  const runtime = await testRuntime({
    model,
    registry: () => registry,
    probe: (point) => at.get(point)?.(),
  });
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
  return { runtime, client, threadId, wait, asked, children, results, deploy, at };
}

describe('an approval of a call of', () => {
  it.each([
    ['a prompt', 'advise', 'prompt.call', [says('advice')], 'completed'],
    // The worker's session ends only by its limit of turns, which is no success.
    ['a subagent', 'worker', 'agent.delegate', [says('one'), says('two')], 'failed'],
  ])(
    '[PL-09] %s is requested before any of it starts, and allows it once',
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
  ])('[PL-10] %s that is denied starts nothing, and the model reads why', async (_, name, capability) => {
    const run = await calling(name, capability, [says('I see.')]);
    await run.client.answerWait(run.wait.id, { approved: false, reason: 'not today', by: 'Ada' });
    expect(await run.client.waitForIdle(run.threadId)).toMatchObject({ status: 'idle' });
    expect(await run.results()).toEqual([expect.stringContaining('Ada refused its approval: not today')]);
    expect(await run.runtime.store.children.list(run.threadId)).toEqual([]);
    expect(await run.client.listActions({ threadId: run.threadId })).toMatchObject([{ state: 'denied' }]);
  });

  it.each([
    ['a prompt', 'advise', 'prompt.call', 1],
    ['a handoff', 'clerk', 'agent.delegate', 0],
    ['a subagent', 'worker', 'agent.delegate', 2],
  ])(
    '[AX-98] %s is requested again once its arguments mean something else',
    async (_, name, capability, answers) => {
      const own = Array.from({ length: answers }, () => says('own'));
      const run = await calling(name, capability, [...own, says('done')]);
      run.deploy({ requiredSchema: z.object({ to: z.string().optional() }) });
      await run.client.answerWait(run.wait.id, { approved: true });
      expect(await run.client.waitForIdle(run.threadId)).toMatchObject({ status: 'waiting' });
      const [again] = await run.client.listWaits({ threadId: run.threadId });
      run.deploy({ requiredSchema: z.object({ to: z.string().optional().describe('who') }) });
      await run.client.answerWait(again?.id ?? '', { approved: true });
      expect(await run.client.waitForIdle(run.threadId)).toMatchObject({ status: 'idle' });
    },
  );

  it('a subagent is logged as ended even by a worker whose agent no longer has a policy', async () => {
    const run = await calling('worker', 'agent.delegate', [says('one'), says('two'), says('done')]);
    run.at.set('subagent_created', () => run.deploy({ rule: 'none' }));
    await run.client.answerWait(run.wait.id, { approved: true });
    expect(await run.client.waitForIdle(run.threadId)).toMatchObject({ status: 'idle' });
    const actions = await run.client.listActions({ threadId: run.threadId });
    expect(actions).toMatchObject([{ name: 'worker', state: 'failed' }]);
  });
});
