/** Scenarios of threads whose agents start tasks: the histories of both are kept. */
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import { defineTask } from '../../src/definitions/index.ts';
import { calls, says } from '../../src/testing/index.ts';
import { hasResult, lastTold, modelOf } from '../support/child-project.ts';
import { eventually, helperRegistry } from '../support/runtime.ts';
import type { Scenario } from './scenario.ts';

/** Acts twice, then asks. */
const asking = defineTask<{ acts: number; answer: unknown }, string>({
  toolDescription: 'asks',
  observe: ({ history }) => ({
    acts: history.filter(({ decision }) => decision.kind === 'act').length,
    answer: history.find(({ decision }) => decision.kind === 'ask')?.actionOutcome?.result ?? null,
  }),
  decide({ state }) {
    if (state.acts < 2) return { kind: 'act', action: `act ${state.acts}` };
    if (state.answer === null) return { kind: 'ask', question: 'Which colour?' };
    return { kind: 'stop', pass: true, reason: 'answered', outcome: state.answer };
  },
  act: (action) => action,
});

async function asked(client: RuntimeClient, threadId: string) {
  return eventually('a question that the thread shows', async () => {
    const { status } = await client.getThread(threadId);
    if (status !== 'waiting') return undefined;
    return (await client.listWaits({})).find((wait) => wait.threadId.startsWith('task/'));
  });
}

export const TASK_SCENARIOS: Readonly<Record<string, Scenario>> = {
  // One task's question is answered; the other task's thread is stopped.
  'starts-tasks': {
    model: () =>
      modelOf({}, (request) =>
        hasResult(request) || lastTold(request) === 'go on' ? says('noted') : calls('task__asking'),
      ),
    registry: (model) => helperRegistry({ model, tasks: { asking }, prompt: { tools: ['task:asking'] } }),
    async live(client, threadId) {
      await client.queueMessage(threadId, { content: 'ask' });
      await client.answerWait((await asked(client, threadId)).id, { value: 'blue' });
      await client.waitForIdle(threadId);
      await client.queueMessage(threadId, { content: 'ask again' });
      const { threadId: second } = await asked(client, threadId);
      await client.stop(threadId, 'enough');
      await eventually(
        'the end of the task',
        async () => (await client.store.threads.get(second))?.terminatedAt != null,
      );
      await client.queueMessage(threadId, { content: 'go on' });
      await client.waitForIdle(threadId);
    },
  },
};
