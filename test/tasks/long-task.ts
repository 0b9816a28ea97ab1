/** A task of many steps, and the histories of its runs. */
import { defineTask } from '../../src/definitions/index.ts';
import { taskRuntime } from './task-runtime.ts';

export async function measureLongTask({
  steps,
  historySoftLimit,
}: {
  readonly steps: number;
  readonly historySoftLimit: number;
}) {
  const many = defineTask<{ step: number }, { step: number }>({
    observe: ({ history }) => ({ step: (history.at(-1)?.index ?? -1) + 1 }),
    validate: ({ state }) => [{ id: 'all', passed: state.step >= steps, score: state.step / steps }],
    decide: ({ state }) => ({ kind: 'act', action: { step: state.step } }),
    act: ({ step }) => ({ done: step, padding: 'x'.repeat(2000) }),
  });
  const { client } = await taskRuntime({ many }, { fresh: true, configuration: { historySoftLimit } });
  const budget = { maxSteps: steps + 1, maxWallMs: 3_600_000 };
  const { id } = await client.tasks.start({ task: 'many', budget });
  const task = await client.tasks.wait(id, { timeoutMs: 3_600_000 });
  const { temporal } = client;
  let runs = 0;
  let bytes = 0;
  for await (const { runId } of temporal.workflow.list({ query: `WorkflowId = "task/${id}"` })) {
    const { raw } = await temporal.workflow.getHandle(`task/${id}`, runId).describe();
    bytes += Number(raw.workflowExecutionInfo?.historySizeBytes ?? 0);
    runs += 1;
  }
  return { task, runs, bytesPerStep: bytes / steps };
}
