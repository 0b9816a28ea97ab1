/** Scenarios in which a call waits for a person: a wait can last for days, so later builds must replay it. */
import { z } from 'zod';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { WaitAnswer } from '../../src/core/wait/answer.ts';
import { definePolicy, defineTool } from '../../src/definitions/index.ts';
import { calls, fails, says, scriptedModel } from '../../src/testing/index.ts';
import { answerWait, answerWaitUpdate } from '../../src/workflows/messages.ts';
import { askStatus } from '../support/ask-workflow.ts';
import { childProject, handsIn, hasResult, modelOf } from '../support/child-project.ts';
import { eventually } from '../support/runtime.ts';
import { type Scenario, say } from './scenario.ts';

const refund = defineTool({
  description: 'refunds',
  args: z.object({ cents: z.number() }),
  capabilities: ['money.move'],
  prepareAction: ({ cents }) => ({ description: `Refunds ${cents}` }),
  execute: async (_state, { cents }) => ({ status: 'success', result: `refunded ${cents}` }),
});
const book = defineTool({
  description: 'books',
  asks: true,
  execute: async (state) => ({
    status: 'success',
    result: `for ${(await state.ask({ key: 'name', question: 'For whom?' })).value}`,
  }),
});
const tools = { refund, hasty: { ...refund, approvalTimeoutMs: 300 }, book };
const agent = { policy: { 'money.*': 'require_approval' } } as const;

const DEAR = { effect: 'ask', reason: 'Every request is dear' } as const;

/** Resolves with the id of the thread's wait. */
async function waitOf(client: RuntimeClient, threadId: string): Promise<string> {
  await client.waitForIdle(threadId);
  return eventually('a wait', async () => (await client.listWaits({ threadId }))[0]?.id);
}

async function answer(client: RuntimeClient, threadId: string, given: WaitAnswer): Promise<void> {
  await client.answerWait(await waitOf(client, threadId), given);
  await client.waitForIdle(threadId);
}

const handleOf = (client: RuntimeClient, threadId: string) =>
  client.temporal.workflow.getHandle(`thread/${threadId}`);

export const WAIT_SCENARIOS: Readonly<Record<string, Scenario>> = {
  /** The history ends during the wait. */
  'approval-awaited': {
    model: () => scriptedModel([calls('refund', { cents: 1 })]),
    options: { tools, agent },
    live: (client, threadId) => say(client, threadId, 'refund'),
  },
  approvals: {
    model: () =>
      scriptedModel([
        calls('refund', { cents: 1 }),
        calls('refund', { cents: 2 }),
        calls('hasty', { cents: 3 }),
        says('done'),
        calls('refund', { cents: 4 }),
      ]),
    options: { tools, agent },
    async live(client, threadId) {
      await say(client, threadId, 'refund');
      await answer(client, threadId, { approved: true });
      await handleOf(client, threadId).signal(answerWait, {
        id: await waitOf(client, threadId),
        answer: { approved: false, reason: 'too much' },
      });
      await eventually('rest', async () => (await client.waitForIdle(threadId)).status === 'idle');
      await say(client, threadId, 'once more');
      await client.stop(threadId);
      await client.waitForIdle(threadId);
    },
  },
  'question-continued': {
    model: () => scriptedModel([calls('book'), says('booked')]),
    options: { tools, agent, configuration: { historySoftLimit: 50 } },
    async live(client, threadId) {
      await say(client, threadId, 'book');
      const handle = handleOf(client, threadId);
      const { runId } = await handle.describe();
      for (let i = 0; i < 60; i++) await handle.signal(`nothing ${i}`, i);
      await eventually('the next run', async () => (await handle.describe()).runId !== runId);
      const id = await waitOf(client, threadId);
      await handle.executeUpdate(answerWaitUpdate, { args: [{ id, answer: { value: 'Ada' } }] });
      await client.waitForIdle(threadId);
    },
  },
  /** A step leaves its activity while its model takes no request, and asks again. */
  'model-held': {
    model: () =>
      scriptedModel([
        fails({ status: 429, message: 'slow down', retryAfter: 6 }),
        says('here'),
        fails({ status: 429, message: 'slow down', retryAfter: 6 }),
      ]),
    async live(client, threadId) {
      await say(client, threadId, 'go');
      await client.queueMessage(threadId, { content: 'again' });
      await eventually(
        'the wait',
        async () =>
          (await askStatus(handleOf(client, threadId))).activity?.startsWith('waiting for the model') ||
          undefined,
      );
      await client.stop(threadId);
      await client.waitForIdle(threadId);
    },
  },
  /** A step waits and asks again: the policy of its budget asks before each request. */
  'budget-asks': {
    model: () => scriptedModel([says('dear')]),
    options: {
      policies: {
        thrift: definePolicy({ evaluateBudget: ({ kind }) => (kind === 'model.call' ? DEAR : undefined) }),
      },
      agent: { budget: { maxSteps: 9, evaluate: 'thrift' } },
    },
    async live(client, threadId) {
      await say(client, threadId, 'go');
      await answer(client, threadId, { approved: true });
      await eventually('rest', async () => (await client.waitForIdle(threadId)).status === 'idle');
      await say(client, threadId, 'once more');
      await answer(client, threadId, { approved: false, reason: 'too dear' });
      await eventually('its end', async () => (await client.waitForIdle(threadId)).status === 'failed');
    },
  },
  /** The thread is shown as waiting for people while its child waits, and continues as new during that time. */
  'child-waits': {
    model: () =>
      modelOf({
        main: (request) => (hasResult(request) ? says('thanks') : calls('scribe')),
        scribe_desk: (request) => (hasResult(request) ? handsIn('refunded') : calls('sure', { cents: 1 })),
      }),
    registry: (model) =>
      childProject({
        model,
        tools: { sure: { ...refund, confirm: true } },
        entries: ['scribe'],
        children: { scribe: { desk: { tools: ['sure'] } } },
      }),
    options: { configuration: { historySoftLimit: 60 } },
    async live(client, threadId) {
      await say(client, threadId, 'refund');
      const id = await waitOf(client, threadId);
      const handle = handleOf(client, threadId);
      const shows = () =>
        eventually('it shows the wait', async () => {
          return (await askStatus(handle)).waits !== undefined;
        });
      await shows();
      const { runId } = await handle.describe();
      for (let i = 0; i < 70; i++) await handle.signal(`nothing ${i}`, i);
      await eventually('the next run', async () => (await handle.describe()).runId !== runId);
      await shows();
      await client.answerWait(id, { approved: true });
      await eventually('rest', async () => (await client.waitForIdle(threadId)).status === 'idle');
    },
  },
};
