/**
 * Runs a task that requires knowledge, acts, asks, and continues as new in the meantime; returns the histories of its
 * runs, oldest first.
 */
import type { temporal } from '@temporalio/proto';
import { defineTask } from '../../src/definitions/index.ts';
import { eventually } from '../support/runtime.ts';
import { taskRuntime } from '../tasks/task-runtime.ts';

type History = temporal.api.history.v1.IHistory;

const asking = defineTask<{ steps: number }, { step: number }>({
  asks: true,
  requiredKnowledge: [{ id: 'who', description: 'Who?', importance: 'blocking' } as never],
  observe: ({ history }) => ({ steps: history.at(-1)?.index ?? -1 }),
  decide: ({ stepIndex }) => {
    if (stepIndex === 8) return { kind: 'ask', question: 'Go on?' };
    if (stepIndex < 12) return { kind: 'act', action: { step: stepIndex } };
    return { kind: 'stop', pass: true, reason: 'done' };
  },
  act: ({ step }) => {
    if (step === 1) throw new Error('once');
    return step;
  },
});

export async function liveTask(): Promise<History[]> {
  const { client } = await taskRuntime({ asking }, { fresh: true, configuration: { historySoftLimit: 60 } });
  const { id } = await client.tasks.start({ task: 'asking', budget: { maxSteps: 20 } });
  for (const value of ['ada', true]) {
    const wait = await eventually(
      'a question',
      async () => (await client.listWaits({ threadId: `task/${id}` }))[0],
    );
    await client.answerWait(wait.id, { value });
    await eventually(
      'it to be heard',
      async () => (await client.listWaits({ threadId: `task/${id}` })).length === 0,
    );
  }
  await eventually('its end', async () => (await client.tasks.get(id)).endedAt !== null);
  const { workflow } = client.temporal;
  const { raw } = await workflow.getHandle(`task/${id}`).describe();
  const histories: History[] = [];
  for (let runId = raw.workflowExecutionInfo?.firstRunId ?? undefined; runId !== undefined; ) {
    const history = await workflow.getHandle(`task/${id}`, runId).fetchHistory();
    histories.push(history);
    runId =
      history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
  return histories;
}
