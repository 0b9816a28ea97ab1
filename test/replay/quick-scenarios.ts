/**
 * Scenarios whose quick calls run within the activity of their step. Only the activity's result says whether they did.
 */
import { z } from 'zod';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { promptProject } from '../support/prompt-project.ts';
import { eventually } from '../support/runtime.ts';
import { type Scenario, say } from './scenario.ts';

export const tools = {
  quick: defineTool({
    description: 'quick',
    quick: true,
    execute: () => ({ status: 'success', result: 'q' }),
  }),
  slow: defineTool({
    description: 'slow',
    args: z.object({ fail: z.boolean().default(false) }),
    execute: async (_state, { fail }) =>
      fail ? { status: 'error', error: 'asked to' } : { status: 'success', result: 's' },
  }),
};

const remind = (quick: boolean) =>
  defineTool({
    description: 'puts a message in line',
    quick,
    execute: async (state) => {
      await state.queueMessage({ role: 'user', content: 'remember' });
      return { status: 'success' };
    },
  });

export const QUICK_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'calls-within-a-step': {
    model: () =>
      scriptedModel([
        callsMany([{ name: 'quick' }, { name: 'nobody' }, { name: 'remind' }]),
        callsMany([{ name: 'quick' }, { name: 'slow' }]),
        says('done'),
        calls('leave'),
      ]),
    options: {
      tools: {
        ...tools,
        remind: remind(true),
        leave: defineTool({
          description: 'ends the thread',
          quick: true,
          execute: async (state) => {
            await state.terminate();
            return { status: 'success' };
          },
        }),
      },
    },
    async live(client, threadId) {
      await say(client, threadId, 'work');
      await client.queueTool(threadId, { name: 'quick' });
      await client.waitForIdle(threadId);
    },
  },
  'calls-become-short': {
    model: () =>
      scriptedModel([
        calls('slow'),
        callsMany([{ name: 'slow' }, { name: 'quick' }, { name: 'slow' }]),
        calls('remind'),
        calls('slow', { fail: true }),
        says('done'),
        calls('slow'),
        says('again'),
      ]),
    options: { tools: { ...tools, remind: remind(false) } },
    async live(client, threadId) {
      await say(client, threadId, 'work');
      await client.queueTool(threadId, { name: 'slow' });
      await client.waitForIdle(threadId);
    },
  },
  'many-steps-of-an-activity': {
    model: () =>
      scriptedModel([
        ...[
          calls('quick'),
          calls('quick'),
          calls('remind'),
          callsMany([{ name: 'quick' }, { name: 'slow' }]),
        ],
        ...[calls('quick'), calls('quick'), calls('quick'), says('done')],
        ...[calls('quick'), hangs(), says('again')],
      ]),
    options: { tools: { ...tools, remind: remind(true) } },
    async live(client, threadId) {
      await say(client, threadId, 'work');
      await client.sendMessage(threadId, { content: 'more' });
      await eventually('the last step asks its model', async () => {
        const events = await client.store.events.read(threadId, 0, 10_000);
        return events.filter(({ type }) => type === 'step.started').length === 10;
      });
      await client.stop(threadId, 'enough');
      await client.waitForIdle(threadId);
      await say(client, threadId, 'go on');
    },
  },
  'calls-within-a-subprompt': {
    model: () =>
      scriptedModel([
        calls('consult'),
        callsMany([{ name: 'quick' }, { name: 'nobody' }, { name: 'slow' }]),
        calls('consult'),
        callsMany([{ name: 'quick' }, { name: 'quick' }]),
        says('done'),
      ]),
    registry: (model) =>
      promptProject({
        model,
        main: { tools: ['consult'] },
        prompts: { consult: { tools: ['quick', 'slow'] } },
        tools,
      }),
    live: (client, threadId) => say(client, threadId, 'consult'),
  },
  'first-calls-within-a-step': {
    model: () =>
      scriptedModel([callsMany([{ name: 'quick' }, { name: 'slow' }, { name: 'quick' }]), says('done')]),
    options: { tools },
    live: (client, threadId) => say(client, threadId, 'work'),
  },
};
