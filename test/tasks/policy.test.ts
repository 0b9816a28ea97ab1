/** What a task may do: judged by the policy of its agent, and approved by people, like any call. */
import { describe, expect, it } from '@jest/globals';
import {
  defineAgent,
  defineModel,
  definePrompt,
  defineTask,
  registryFrom,
} from '../../src/definitions/index.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { eventually, testRuntime } from '../support/runtime.ts';
import { taskRuntime } from './task-runtime.ts';

const project = (rule: 'allow' | 'deny' | 'require_approval' | undefined) => ({
  agents: [defineAgent({ name: 'clerk', sideA: { prompt: 'main' }, policy: rule && { 'records.*': rule } })],
  prompts: [definePrompt({ name: 'main', toolDescription: 'main', prompt: 'Help.', model: 'scripted' })],
  models: [
    defineModel({ name: 'scripted', provider: scriptedModel(() => says('ok')).provider, model: 'scripted' }),
  ],
});

describe('an act of a task with an agent', () => {
  const acted: unknown[] = [];
  const acting = defineTask<number, { type: string; id: number }>({
    agent: 'clerk',
    capabilities: ['records.write'],
    observe: ({ history }) => history.length,
    decide: ({ stepIndex, history }) =>
      stepIndex === 0
        ? { kind: 'act', action: { type: 'update', id: 42 } }
        : {
            kind: 'stop',
            pass: history[0]?.actionOutcome?.ok === true,
            reason: 'over',
            outcome: history[0]?.actionOutcome,
          },
    prepareAction: ({ id }) => ({ description: `Updates record ${id}` }),
    act: (action) => {
      acted.push(action);
      return 'updated';
    },
  });

  it('does not run if a rule denies it, and its adapter observes the denial', async () => {
    const { client } = await taskRuntime({ acting }, { project: project('deny') });
    const { id } = await client.tasks.start({ task: 'acting' });
    expect(await client.tasks.wait(id)).toMatchObject({
      status: 'failed',
      verdict: { outcome: { ok: false, code: 'ActionDenied' } },
    });
    expect(acted).toEqual([]);
    expect(await client.listActions({ threadId: `task/${id}` })).toMatchObject([
      { state: 'denied', kind: 'task.act' },
    ]);
  });

  it('waits for its approval, shown with its action, and runs once', async () => {
    const { client } = await taskRuntime({ acting }, { project: project('require_approval') });
    const { id } = await client.tasks.start({ task: 'acting' });
    expect(await client.tasks.wait(id)).toMatchObject({ status: 'waiting' });
    const [wait] = await client.listWaits({ threadId: `task/${id}` });
    expect(wait).toMatchObject({ kind: 'approval', name: 'update', summary: 'Updates record 42' });
    expect(acted).toEqual([]);
    await client.answerWait(wait?.id ?? '', { approved: true });
    await eventually('its end', async () => (await client.tasks.get(id)).endedAt !== null);
    expect(await client.tasks.get(id)).toMatchObject({
      status: 'completed',
      verdict: { outcome: { ok: true, result: 'updated' } },
    });
    expect(acted).toEqual([{ type: 'update', id: 42 }]);
    expect(await client.listActions({ threadId: `task/${id}` })).toMatchObject([{ state: 'completed' }]);
  });

  it.each([
    ['allows it', 'allow', false],
    ['has no policy', undefined, false],
    ['has no policy', undefined, true],
  ] as const)(
    'follows the answer on a worker that %s by then (%s, approved: %s)',
    async (_, rule, approved) => {
      acted.length = 0;
      let registry = registryFrom({ ...project('require_approval'), tasks: { acting } });
      const { client } = await testRuntime({ registry: () => registry });
      const { id } = await client.tasks.start({ task: 'acting' });
      expect(await client.tasks.wait(id)).toMatchObject({ status: 'waiting' });
      registry = registryFrom({ ...project(rule), tasks: { acting } });
      const [wait] = await client.listWaits({ threadId: `task/${id}` });
      await client.answerWait(wait?.id ?? '', { approved });
      await eventually('its end', async () => (await client.tasks.get(id)).endedAt !== null);
      expect(acted).toHaveLength(approved ? 1 : 0);
      const state = approved ? 'completed' : 'denied';
      expect(await client.listActions({ threadId: `task/${id}` })).toMatchObject([{ state }]);
    },
  );
});
