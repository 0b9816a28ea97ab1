/** `on_agent_end` (docs/hooks.md): runs once at every end of an execution, with its reason. */
import { describe, expect, it } from '@jest/globals';
import type { AgentEnd, HookDefinition } from '../../src/core/author/hook.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { type AgentInput, defineHook, defineTool } from '../../src/definitions/index.ts';
import { calls, fails, hangs, type ScriptStep, says, scriptedModel } from '../../src/testing/index.ts';
import { hookFailures, hookRuntime } from '../support/hook-project.ts';
import { eventually, type TestRuntime } from '../support/runtime.ts';

const look = defineTool({ description: 'looks', execute: () => ({ status: 'success', result: 'seen' }) });

function watched() {
  const ends: AgentEnd[] = [];
  const hook = defineHook({
    hook: 'on_agent_end',
    id: 'watch',
    execute: (_state, end) => void ends.push(end),
  }) as HookDefinition;
  return { ends, hook };
}

interface Ending {
  readonly script: readonly ScriptStep[];
  readonly agent?: Partial<AgentInput>;
  readonly side?: Partial<AgentInput['sideA']>;
  readonly end?: (runtime: TestRuntime, thread: string) => Promise<unknown>;
  readonly told: Partial<AgentEnd>;
}

const ENDINGS: Readonly<Record<string, Ending>> = {
  'an answer': { script: [says('done')], told: { status: 'idle', text: 'done' } },
  'a model that fails': {
    script: [fails({ status: 400, message: 'bad request' })],
    told: { status: 'failed', reason: 'failed', text: null, error: expect.objectContaining({}) as never },
  },
  'a limit of steps': {
    script: [calls('look'), calls('look')],
    side: { maxSteps: 2 },
    told: { status: 'idle', text: null },
  },
  'a loop': {
    script: Array.from({ length: 4 }, () => calls('look')),
    agent: { guards: { loops: { warning: 3, critical: 4 } } },
    told: { status: 'failed', error: expect.objectContaining({ code: 'LoopDetected' }) as never },
  },
  'a budget': {
    script: [calls('look')],
    agent: { budget: { maxSteps: 1 } },
    told: { status: 'failed', error: expect.objectContaining({ code: 'BudgetExceeded' }) as never },
  },
  'a stop': {
    script: [hangs()],
    end: ({ client }, thread) => client.stop(thread),
    told: { status: 'stopped', text: null },
  },
  'a cancellation': {
    script: [hangs()],
    end: ({ client }, thread) => client.cancelExecution(thread, { reason: 'no more' }),
    told: { status: 'stopped', reason: 'canceled' },
  },
  'an end that a client has asked for': {
    script: [hangs()],
    end: ({ client }, thread) => client.terminate(thread, 'no more'),
    told: { status: 'terminated', reason: 'no more', text: null },
  },
  'an end that the store alone knows of': {
    script: [hangs()],
    end: terminateBehind,
    told: { status: 'terminated', reason: 'behind its back' },
  },
  'an end that came as a signal': {
    script: [hangs()],
    end: ({ client }, thread) =>
      client.temporal.workflow.getHandle(`thread/${thread}`).signal('terminate', { reason: 'no more' }),
    told: { status: 'terminated', reason: 'no more' },
  },
};

/** Terminates the thread in the store only, as a relative whose worker then dies; a later stop wakes the workflow. */
async function terminateBehind({ store, client }: TestRuntime, thread: string) {
  await store.threads.terminate(thread, 'behind its back');
  await client.temporal.workflow.getHandle(`thread/${thread}`).signal('stop', {});
}

describe('the on_agent_end hook', () => {
  it.each(Object.entries(ENDINGS))(
    '[AX-110] runs once at %s, as the log says',
    async (_, { script, agent, side, end, told }) => {
      const { ends, hook } = watched();
      const model = scriptedModel(script);
      const runtime = await hookRuntime({ model, hooks: [hook], tools: { look }, agent, side });
      const { threadId } = await runtime.client.startThread({
        agent: 'helper',
        messages: [{ content: 'go' }],
      });
      if (end) {
        await eventually('the request', () => model.requests.length === 1);
        await end(runtime, threadId);
      }
      const ended = async () =>
        eventsOf(await runtime.store.events.read(threadId, 0, 1000), 'execution.ended');
      await eventually('the end', async () => (await ended()).length > 0);
      // If the thread is terminated in the store, the hook runs after the end is logged.
      await eventually('the hook', () => ends.length > 0);
      expect(ends).toEqual([expect.objectContaining(told)]);
      const [{ data } = { data: undefined }] = await ended();
      expect(ends[0]).toMatchObject({ executionId: data?.executionId, reason: data?.reason });
      expect(ends[0]?.key).toBe(`${threadId}:${data?.executionId}:end`);
    },
  );

  it('[AX-108] that throws is logged, and the turn has its end', async () => {
    const hook = defineHook({
      hook: 'on_agent_end',
      id: 'sick',
      execute: () => {
        throw new Error('no end');
      },
    }) as HookDefinition;
    const runtime = await hookRuntime({ model: scriptedModel([says('done')]), hooks: [hook] });
    const thread = await runtime.start('go');
    expect(await runtime.transcript(thread)).toEqual(['user: go', 'assistant: done']);
    expect(await hookFailures(runtime, thread)).toEqual(['sick: no end']);
  });

  it('[AX-110] may queue the start of the next execution, which has its own end', async () => {
    const keys: string[] = [];
    const hook = defineHook({
      hook: 'on_agent_end',
      id: 'once_more',
      async execute(state, { key, text }) {
        keys.push(key);
        if (text === 'one') await state.queueMessage({ content: 'and two?' });
      },
    }) as HookDefinition;
    const runtime = await hookRuntime({ model: scriptedModel([says('one'), says('two')]), hooks: [hook] });
    const thread = await runtime.start('go');
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant: one',
      'user: and two?',
      'assistant: two',
    ]);
    expect(new Set(keys).size).toBe(2);
  });
});
