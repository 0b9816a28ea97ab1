/** `endTask`: the last activity of a task: makes its run records and stores its end, once. */
import type { ManifestDefinition } from '../../core/author/manifest.ts';
import { scoreRun } from '../../core/author/rubric-score.ts';
import type { TaskControl, TaskRunRecord, TaskRuntimeError } from '../../core/author/task.ts';
import { findManifest } from '../../core/project/new-task.ts';
import type { TaskVerdict } from '../../core/task/control.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { EndTaskInput, TaskCause, TaskOutcome } from '../../core/thread/task-step.ts';
import { toJsonText } from '../../core/value/json-value.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { currentRunId } from '../base/run-ref.ts';
import { readReason } from '../step/commit-status.ts';
import { deliverReports } from '../subagent/report.ts';
import { toOutcome } from './open-task.ts';
import { openFrame, type PhaseResult, runPhase, STATE_BYTES, type TaskFrame } from './task-frame.ts';

/** `unmade`: why no run records are made. */
export async function endTask(
  dependencies: ActivityDependencies,
  input: EndTaskInput,
  unmade?: StoredError,
): Promise<TaskOutcome> {
  const { store, registry, probe } = dependencies;
  const name = (await store.threads.get(input.threadId))?.agent ?? '';
  // A task without a definition is ended too: an abort must not wait for one.
  const frame = registry().tasks.has(name) ? await openFrame(dependencies, input) : undefined;
  const task = frame?.loop.task ?? (await store.tasks.readLoop(input.threadId, 1)).task;
  const { stored, ...cause }: TaskCause = input.cause ?? LOST_CAUSE;
  const reason = (await readReason(store, input.threadId, { ...cause, stored })) ?? cause.reason;
  const verdict = task.verdict ?? { pass: false, ...cause, reason };
  const made =
    frame && !unmade
      ? await makeRecords(frame, verdict, findManifest(registry(), name))
      : { records: null, errors: unmade ? [toRecordsError(input, unmade)] : [] };
  await probe?.('task_ending');
  const ended = await store.tasks.end({
    threadId: input.threadId,
    runId: currentRunId(),
    verdict,
    ...made,
  });
  await probe?.('task_ended');
  if (ended.parentId !== null) await deliverReports(dependencies, input.threadId);
  return toOutcome(ended);
}

function toRecordsError({ step }: EndTaskInput, { message }: StoredError): TaskRuntimeError {
  return { phase: 'projectRunRecords', stepIndex: step, message };
}

const LOST_CAUSE = { stoppedBy: 'runtime-error', reason: 'its loop has ended without a verdict' } as const;

interface MadeRecords {
  readonly records: readonly TaskRunRecord[] | null;
  readonly errors: readonly TaskRuntimeError[];
}

/** The records that its adapter makes of the run, and the scores by the rubric of its manifest. */
async function makeRecords(
  frame: TaskFrame,
  verdict: TaskVerdict,
  manifest: ManifestDefinition | undefined,
): Promise<MadeRecords> {
  const made = [await projectRecords(frame, verdict), await scoreTask(frame, verdict, manifest)];
  const records = made.flatMap((each) => each?.records ?? []);
  return {
    records: made.some((each) => each?.records) ? records : null,
    errors: made.flatMap((each) => each?.errors ?? []),
  };
}

async function projectRecords(frame: TaskFrame, verdict: TaskVerdict): Promise<MadeRecords | undefined> {
  const { projectRunRecords } = frame.definition.adapter;
  if (!projectRunRecords) return undefined;
  const { task } = frame.loop;
  const control = toControl(frame, verdict);
  const made = await runPhase(frame, 'projectRunRecords', async () =>
    toRecords(frame, (await projectRunRecords(control, task.spec)) ?? []),
  );
  return made.ok ? { records: made.value, errors: [] } : toError(frame, made);
}

function toControl({ loop: { task, steps } }: TaskFrame, verdict: TaskVerdict): TaskControl {
  const last = steps.at(-1);
  return {
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
}

/** One record, if there is a rubric. An aborted run has nothing to score. */
async function scoreTask(
  frame: TaskFrame,
  { outcome, stoppedBy }: TaskVerdict,
  manifest: ManifestDefinition | undefined,
): Promise<MadeRecords | undefined> {
  if (!manifest || stoppedBy === 'abort') return undefined;
  const { id, hash } = manifest;
  const { task, steps } = frame.loop;
  const run = { output: outcome ?? steps.at(-1)?.state ?? null, persona: task.spec.inputs ?? null };
  const made = await runPhase(frame, 'rubric', async () => {
    const scored = await scoreRun(manifest, run);
    return toRecords(frame, scored ? [{ kind: 'rubric', agentId: id, manifest: hash, ...scored }] : []);
  });
  if (!made.ok) return toError(frame, made);
  return made.value.length > 0 ? { records: made.value, errors: [] } : undefined;
}

function toRecords({ loop: { task } }: TaskFrame, records: readonly TaskRunRecord[]): TaskRunRecord[] {
  const filled = records.map((record) => ({ scenarioId: task.scenarioId ?? task.id, ...record }));
  return JSON.parse(
    toJsonText(filled, { name: 'the run records', maxBytes: STATE_BYTES }),
  ) as TaskRunRecord[];
}

function toError(
  { step }: TaskFrame,
  { phase, message }: Extract<PhaseResult<unknown>, { ok: false }>,
): MadeRecords {
  return { records: null, errors: [{ phase, stepIndex: step, message }] };
}
