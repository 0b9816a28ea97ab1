/** Short scenarios whose histories are kept: each must replay with every later version of the workflow. */
import { z } from 'zod';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import { LIMITS } from '../../src/core/value/limit.ts';
import { defineEffect, defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, delays, fails, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { ended, schedule } from '../support/effects.ts';
import { promptProject } from '../support/prompt-project.ts';
import { nested } from '../support/raw-payload.ts';
import { eventually } from '../support/runtime.ts';
import { activitiesOf } from '../support/scheduled.ts';
import { toolOf } from '../support/tool-work.ts';
import { FAMILY_SCENARIOS } from './family-scenarios.ts';
import { ORDER_SCENARIOS } from './order-scenarios.ts';
import { QUICK_SCENARIOS, tools } from './quick-scenarios.ts';
import { REMOTE_SCENARIOS } from './remote-scenarios.ts';
import { type Scenario, say } from './scenario.ts';
import { TASK_SCENARIOS } from './task-scenarios.ts';
import { WAIT_SCENARIOS } from './wait-scenarios.ts';

async function countLooks(client: RuntimeClient, threadId: string): Promise<number> {
  return (await activitiesOf(client, threadId)).filter((name) => name === 'runEffects').length;
}

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  conversation: {
    model: () => scriptedModel([says('hello'), says('again')]),
    async live(client, threadId) {
      await say(client, threadId, 'hi');
      await client.sendMessage(threadId, { content: 'and now?' });
      await client.waitForIdle(threadId);
    },
  },
  tools: {
    model: () =>
      scriptedModel([
        callsMany([{ name: 'slow' }, { name: 'quick' }]),
        calls('slow', { fail: true }),
        says('done'),
      ]),
    options: { tools },
    live: (client, threadId) => say(client, threadId, 'work'),
  },
  'run-code': {
    model: () => scriptedModel([calls('run_code', { source: 'export default 6 * 7' }), says('42')]),
    options: { prompt: { tools: ['run_code'] } },
    live: (client, threadId) => say(client, threadId, 'compute'),
  },
  subprompt: {
    model: () =>
      scriptedModel([
        callsMany([{ name: 'consult' }, { name: 'aside' }]),
        callsMany([{ name: 'slow' }, { name: 'aside' }, { name: 'quick' }]),
        says('by the way'),
        fails({ status: 400, message: 'no' }),
        says('done'),
      ]),
    registry: (model) =>
      promptProject({
        model,
        main: { tools: ['consult', 'aside'] },
        prompts: { consult: { tools: ['slow', 'aside', 'quick'] }, aside: {} },
        tools,
      }),
    live: (client, threadId) => say(client, threadId, 'consult'),
  },
  handoff: {
    model: () => scriptedModel([calls('clerk'), says('here'), calls('boss'), says('the boss')]),
    registry: (model) =>
      promptProject({
        model,
        main: { tools: ['clerk'] },
        prompts: { clerk_desk: { includeChat: true, tools: ['boss'] }, boss_desk: {} },
        agents: { clerk: { sideA: { prompt: 'clerk_desk', stopTool: 'boss' } }, boss: {} },
      }),
    async live(client, threadId) {
      await say(client, threadId, 'hand over');
      await say(client, threadId, 'to the boss');
      await say(client, threadId, 'hello');
    },
  },
  'queued-tool': {
    model: () => scriptedModel([says('noted')]),
    options: { tools },
    async live(client, threadId) {
      await client.queueTool(threadId, { name: 'quick' });
      await client.waitForIdle(threadId);
    },
  },
  'failed-step': {
    model: () => scriptedModel([fails({ status: 400, message: 'no' }), says('better')]),
    async live(client, threadId) {
      await say(client, threadId, 'hi');
      await say(client, threadId, 'again');
    },
  },
  'stopped-and-terminated': {
    model: () => scriptedModel([hangs({ after: 'partial' }), says('back')]),
    async live(client, threadId) {
      await client.queueMessage(threadId, { content: 'hi' });
      await eventually('text streams', async () =>
        (await client.store.events.read(threadId, 0)).some((event) => event.type === 'model.chunk'),
      );
      await client.stop(threadId, 'enough');
      await client.waitForIdle(threadId);
      await say(client, threadId, 'go on');
      await client.terminate(threadId, 'over');
      await client.waitForIdle(threadId);
    },
  },
  'stopped-when-killed': {
    model: () => scriptedModel([hangs(), says('both')]),
    async live(client, threadId) {
      await client.queueMessage(threadId, { content: 'one' });
      await eventually('it runs', async () => (await client.getThread(threadId)).status === 'running');
      await client.queueMessage(threadId, { content: 'two' });
      await eventually('it is stored', async () => (await client.store.queue.count(threadId)) === 1);
      await client.temporal.workflow.getHandle(`thread/${threadId}`).terminate('by an operator');
      await client.stop(threadId);
      await client.waitForIdle(threadId);
      await say(client, threadId, 'three');
    },
  },
  'ended-by-code': {
    model: () => scriptedModel([calls('end')]),
    options: {
      tools: {
        end: defineTool({
          description: 'ends the thread',
          execute: async (state) => {
            await state.terminate();
            return { status: 'success' };
          },
        }),
      },
    },
    async live(client, threadId) {
      await client.queueMessage(threadId, { content: 'end it' });
      await client.temporal.workflow.getHandle(`thread/${threadId}`).result();
    },
  },
  'refused-signals': {
    model: () => scriptedModel([]),
    async live(client, threadId) {
      const handle = client.temporal.workflow.getHandle(`thread/${threadId}`);
      await handle.signal('queueMessage', { content: 7 });
      await handle.signal('queueTool', null);
      await eventually(
        'both are told',
        async () =>
          (await client.store.events.read(threadId, 0)).filter((event) => event.type === 'item.rejected')
            .length === 2,
      );
    },
  },
  /** Every refusal and every rest that the bounds on signals cause. */
  'beyond-bounds': {
    model: () => scriptedModel(() => says('ok')),
    options: { configuration: { historySoftLimit: 50 } },
    async live(client, threadId) {
      const handle = client.temporal.workflow.getHandle(`thread/${threadId}`);
      const raw = (name: string, ...args: unknown[]) => handle.signal(name, ...(args as []));
      const { runId } = await handle.describe();
      for (let i = 0; i < 60; i++) await raw(`nothing ${i}`, i);
      await eventually('the next run', async () => (await handle.describe()).runId !== runId);
      await raw('queueMessage', { content: 'deep', metadata: { a: JSON.parse(nested(1500)) } });
      await raw('queueMessage', { content: 'wide', ignored: 'x'.repeat(LIMITS.payloadBytes) });
      await say(client, threadId, 'over');
      await client.terminate(threadId);
      await client.waitForIdle(threadId);
    },
  },
  'behind-a-step': {
    model: () => scriptedModel([says('slowly', { chunks: 4, chunkDelayMs: 100 }), says('all')]),
    async live(client, threadId) {
      await client.queueMessage(threadId, { content: 'first' });
      await eventually('it runs', async () => (await client.getThread(threadId)).status === 'running');
      await client.queueMessage(threadId, { content: 'second' });
      await client.queueMessage(threadId, { content: 'third' });
      await client.waitForIdle(threadId);
    },
  },
  'continued-as-new': {
    model: () => scriptedModel(() => says('ok')),
    options: { configuration: { historySoftLimit: 50 } },
    async live(client, threadId) {
      for (let i = 0; i < 8; i++) await say(client, threadId, `m${i}`);
    },
  },
  effects: {
    model: () => scriptedModel([calls('plan'), says('planned'), says('it rang')]),
    options: {
      effects: {
        ring: defineEffect('rings', (state) => state.queueMessage({ role: 'user', content: 'ring' })),
        sweep: defineEffect('sweeps', (state) => state.setValue('swept', true)),
        fail: defineEffect('fails', () => {
          throw new Error('no');
        }),
      },
      tools: {
        plan: toolOf(async (state) => {
          await state.scheduleEffect('sweep', {}, 150);
          await state.scheduleEffect('ring', {}, 400);
          await state.scheduleEffect('fail', {}, 800);
          await state.scheduleEffect('sweep', {}, 3_600_000);
        }),
      },
    },
    async live(client, threadId) {
      await say(client, threadId, 'plan');
      await ended({ store: client.store }, threadId, 3);
      await client.waitForIdle(threadId);
      await client.wakeForEffects(threadId, 0);
      await eventually('a fourth look', async () => (await countLooks(client, threadId)) === 4);
      await client.terminate(threadId);
      await client.waitForIdle(threadId);
    },
  },
  // An effect becomes due during a model request, and a message arrives while the effect runs.
  'effects-take-turns': {
    model: () => scriptedModel([calls('plan'), delays(700, says('planned')), says('heard')]),
    options: {
      effects: {
        linger: defineEffect('takes its time', () => new Promise((resolve) => setTimeout(resolve, 1500))),
      },
      tools: { plan: toolOf((state) => state.scheduleEffect('linger', {}, 100)) },
    },
    async live(client, threadId) {
      await say(client, threadId, 'plan');
      await eventually('the effect runs', async () =>
        (await client.store.events.read(threadId, 0, 1000)).some(({ type }) => type === 'effect.started'),
      );
      await say(client, threadId, 'meanwhile');
      await ended({ store: client.store }, threadId, 1);
      await client.waitForIdle(threadId);
    },
  },
  'effects-alone': {
    model: () => scriptedModel([]),
    options: {
      effects: {
        chain: defineEffect('goes on', z.object({ left: z.number() }), async (state, { left }) => {
          if (left > 0) await state.scheduleEffect('chain', { left: left - 1 }, 120);
        }),
      },
      configuration: { historySoftLimit: 50 },
    },
    async live(client, threadId) {
      await schedule(client, threadId, 'chain', { args: { left: 9 } });
      await ended({ store: client.store }, threadId, 10);
    },
  },
  ...FAMILY_SCENARIOS,
  ...ORDER_SCENARIOS,
  ...QUICK_SCENARIOS,
  ...WAIT_SCENARIOS,
  ...TASK_SCENARIOS,
  ...REMOTE_SCENARIOS,
};
