/** `endTask`: the last act of a task: its run records are made, and its end is kept, once. */
import type { TaskControl, TaskRunRecord, TaskRuntimeError } from '../../core/author/task.ts';
import type { TaskVerdict } from '../../core/task/control.ts';
import type { EndTaskInput, TaskOutcome } from '../../core/thread/task-step.ts';
import { toJsonText } from '../../core/value/json-value.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { currentRunId } from '../base/run-ref.ts';
import { toOutcome } from './open-task.ts';
import { openFrame, runPhase, STATE_BYTES, type TaskFrame } from './task-frame.ts';

export async function endTask(dependencies: ActivityDependencies, input: EndTaskInput): Promise<TaskOutcome> {
  const { store, registry, probe } = dependencies;
  const name = (await store.threads.get(input.threadId))?.agent ?? '';
  // Also where no definition is left: whoever aborts it must not wait for one.
  const frame = registry().tasks.has(name) ? await openFrame(dependencies, input) : undefined;
  const task = frame?.loop.task ?? (await store.tasks.readLoop(input.threadId, 1)).task;
  const verdict = task.verdict ?? { pass: false, ...(input.cause ?? LOST) };
  const made = frame ? await makeRecords(frame, verdict) : { records: null, errors: [] };
  await probe?.('task_ending');
  const ended = await store.tasks.end({
    threadId: input.threadId,
    runId: currentRunId(),
    verdict,
    ...made,
  });
  await probe?.('task_ended');
  return toOutcome(ended);
}

const LOST = { stoppedBy: 'runtime-error', reason: 'its loop has ended without a verdict' } as const;

interface Made {
  readonly records: readonly TaskRunRecord[] | null;
  readonly errors: readonly TaskRuntimeError[];
}

async function makeRecords(frame: TaskFrame, verdict: TaskVerdict): Promise<Made> {
  const { projectRunRecords } = frame.definition.adapter;
  if (!projectRunRecords) return { records: null, errors: [] };
  const { task, steps } = frame.loop;
  const last = steps.at(-1);
  const control: TaskControl = {
    ...verdict,
    runId: task.id,
    intent: task.spec.intent,
    steps: task.steps,
    finalState: last?.state ?? null,
    finalEvals: last?.evals ?? [],
    wallMs: task.wallMs,
    spentCostUsd: task.spentCostUsd,
    runtimeErrors: task.errors,
  };
  const made = await runPhase(frame, 'projectRunRecords', async () => {
    const records = (await projectRunRecords(control, task.spec)) ?? [];
    const filled = records.map((record) => ({ scenarioId: task.scenarioId ?? task.id, ...record }));
    return JSON.parse(
      toJsonText(filled, { name: 'the run records', maxBytes: STATE_BYTES }),
    ) as TaskRunRecord[];
  });
  if (made.ok) return { records: made.value, errors: [] };
  const { phase, message } = made;
  return { records: null, errors: [{ phase, stepIndex: frame.step, message }] };
}
