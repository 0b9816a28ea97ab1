/**
 * What the phases of a task's step work with: its definition, its progress in the store, and the contexts that its
 * adapter receives.
 * - A phase runs under its own name, so a stray fault is attributed to the task. An error that it throws is returned
 *   as a value, unless the work is aborted or a port fails: then the whole activity is left to another attempt.
 */

import { hash } from 'node:crypto';
import { runAuthorCode } from '../../author/guard/author-run.ts';
import type { ManifestDefinition } from '../../core/author/manifest.ts';
import type { DecideContext, TaskContext, TaskDefinition, TaskPhase } from '../../core/author/task.ts';
import { toHistory } from '../../core/author/task-history.ts';
import { findManifest } from '../../core/project/new-task.ts';
import { emissionProblem } from '../../core/task/emission.ts';
import { type KnowledgeReport, reportKnowledge } from '../../core/task/knowledge.ts';
import { type TaskLimits, toLimits } from '../../core/task/spec.ts';
import type { TaskStepInput } from '../../core/thread/task-step.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import { toJsonText } from '../../core/value/json-value.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { sumUsd } from '../../core/value/money.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { TaskLoop, TaskRecord, TaskStepRecord } from '../../store/task/task-record.ts';
import type { FromRun } from '../../store/transaction/from-run.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal, isTransient } from '../base/guard.ts';
import { fromRun } from '../base/run-ref.ts';
import { signalAncestors } from '../signals/wake-relatives.ts';

export interface TaskFrame {
  readonly run: FromRun;
  readonly step: number;
  readonly definition: TaskDefinition;
  readonly loop: TaskLoop;
  readonly limits: TaskLimits;
  readonly knowledge: KnowledgeReport;
  readonly signal: AbortSignal;
  readonly context: TaskContext;
}

/** Throws `TaskNotFound` if this worker's project has no such task; another worker's may have it. */
export async function openFrame(
  { store, registry }: ActivityDependencies,
  input: TaskStepInput,
): Promise<TaskFrame> {
  const run = fromRun(store, input);
  const named = await store.threads.get(run.threadId);
  const definition = requireDefinition(registry(), named?.agent ?? '', run.threadId);
  const { maxNoProgressSteps = 0, maxRepeatedActions = 0 } = definition.guards ?? {};
  const loop = await store.tasks.readLoop(run.threadId, Math.max(maxNoProgressSteps, maxRepeatedActions) + 1);
  const { spec, requirements, answers, status, parentId } = loop.task;
  // The wait of the task may be over: ancestors that show it are updated.
  if (parentId !== null && status === 'waiting') await signalAncestors(store, run.threadId);
  await noteManifest(store, findManifest(registry(), loop.task.name), { run, task: loop.task });
  const signal = abortSignal();
  const knowledge = reportKnowledge(requirements, Date.now());
  return {
    run,
    step: input.step,
    definition,
    loop,
    limits: toLimits({ ...definition.budget, ...spec.budget }),
    knowledge,
    signal,
    context: {
      task: spec,
      knowledge,
      history: toHistory(loop.steps, input.step),
      answers,
      abortSignal: signal,
      async emit(event) {
        const problem = emissionProblem(event);
        if (problem) throw new RuntimeError('InvalidValue', `emit: ${problem}.`);
        toJsonText(event, { name: 'the emitted event', maxBytes: LIMITS.emittedBytes });
        await store.tasks.emit(run.threadId, input.step, [{ type: 'task.emitted', data: { event } }]);
      },
    },
  };
}

/** A run goes on with any build: the first phase on a newer one records that its manifest has changed. */
async function noteManifest(
  { tasks }: ThreadStore,
  manifest: ManifestDefinition | undefined,
  { run, task }: { readonly run: FromRun; readonly task: TaskRecord },
): Promise<void> {
  const hash = manifest?.hash ?? null;
  if (hash === task.manifest || task.endedAt !== null) return;
  if (manifest) await tasks.saveManifest(manifest.hash, manifest.document);
  await tasks.noteManifest({ ...run, manifest: hash });
}

function requireDefinition(
  { tasks }: { readonly tasks: ReadonlyMap<string, TaskDefinition> },
  name: string,
  threadId: string,
): TaskDefinition {
  const found = tasks.get(name);
  if (found) return found;
  throw new RuntimeError(
    'TaskNotFound',
    `${threadId} is a task "${name}", which this worker's project does not have: add agents/tasks/${name}.ts, or run a worker that has it.`,
  );
}

/** What `decide` receives; `act` receives more in addition. */
export function toDecideContext(
  frame: TaskFrame,
  seen: Pick<TaskStepRecord, 'state' | 'evals'>,
): DecideContext {
  const { task } = frame.loop;
  const { maxSteps, maxWallMs, maxCostUsd } = frame.limits;
  return {
    ...frame.context,
    state: seen.state,
    evals: seen.evals,
    budget: { maxSteps, maxWallMs, ...(maxCostUsd === null ? {} : { maxCostUsd }) },
    stepIndex: frame.step,
    wallMs: task.wallMs,
    spentCostUsd: task.spentCostUsd,
    ...(maxCostUsd === null
      ? {}
      : { remainingCostUsd: Math.max(0, sumUsd([maxCostUsd, -task.spentCostUsd])) }),
  };
}

export type PhaseResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly phase: TaskPhase; readonly message: string; readonly error: unknown };

/** A phase under its name. */
export async function runPhase<Value>(
  { definition, run, step, signal }: TaskFrame,
  phase: TaskPhase,
  body: () => Value | Promise<Value>,
): Promise<PhaseResult<Value>> {
  const work = `${run.threadId}:${phase}:${step}`;
  const name = `${phase} of ${definition.name}`;
  const unit = { code: 'task', name, threadId: run.threadId, work } as const;
  try {
    return { ok: true, value: await runAuthorCode(unit, body) };
  } catch (error) {
    if (isTransient(error, signal)) throw error;
    return { ok: false, phase, message: errorMessage(error), error };
  }
}

/** Ends the task because a phase of a step has failed. `known`: the step was decided before. */
export async function failTask(
  { tasks }: ThreadStore,
  { run, step }: Pick<TaskFrame, 'run' | 'step'>,
  { phase, message, code }: { readonly phase: TaskPhase; readonly message: string; readonly code?: string },
): Promise<'known' | 'stops' | 'terminated'> {
  const reason = `${phase} failed: ${message}`;
  const verdict = { stoppedBy: 'runtime-error', pass: false, reason, code } as const;
  const error = { phase, stepIndex: step, message };
  const kept = await tasks.saveDecision({ ...run, step, verdict, error });
  return kept.kind === 'kept' ? 'stops' : kept.kind;
}

export const STATE_BYTES = 1024 * 1024;
export const ACTION_BYTES = 256 * 1024;

/** Equal for values that are equal as JSON. */
export function fingerprintOf(value: unknown): string {
  return hash('sha256', canonicalJson(value ?? null));
}
