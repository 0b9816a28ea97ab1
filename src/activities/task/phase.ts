/**
 * The activities of a task's loop as units of author work (activities/author/unit.ts). One that has taken its worker
 * process down is retried in a lone process, and given up after three strikes: as a runtime error of the task, or as
 * the outcome of its act.
 * - An act and the thoughts after it are separate units: in a lone process, one runs without the other.
 */
import { randomUUID } from 'node:crypto';
import type { TaskPhase } from '../../core/author/task.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { ActAttempt, TaskPause, TaskStepInput } from '../../core/thread/task-step.ts';
import type { UnitActivity } from '../author/unit.ts';
import type { ActivityDependencies, ActivityRun, Wrapped } from '../base/dependencies.ts';
import { fromRun } from '../base/run-ref.ts';
import { actOnce, afterFailure } from './act.ts';
import { checkTask } from './check-readiness.ts';
import { endTask } from './end-task.ts';
import { failTask, openFrame } from './task-frame.ts';
import { thinkTask } from './think.ts';

export const CHECK_PHASE = phase('preflight', checkTask, (ports, input, error) =>
  giveUpPhase(ports, input, 'readiness', error),
);

export const THINK_PHASE = phase('think', thinkTask, async (ports, input, error) =>
  giveUpPhase(ports, input, await phaseAt(ports, input), error),
);

export const ACT_PHASE = phase('act', actOnce, giveUpAct);

/** Ends the task even if its records cannot be made. */
export const END_PHASE = phase('end', endTask, endTask);

/** `name`: part of the key of the unit. */
function phase<Input extends TaskStepInput, Outcome>(
  name: string,
  run: ActivityRun<Input, Outcome>,
  giveUp: UnitActivity<Input, Outcome>['giveUp'],
): UnitActivity<Input, Outcome> {
  const unit = ({ threadId, step }: TaskStepInput) =>
    ({ code: 'task', name: `${name}, step ${step}`, threadId, work: `${threadId}:${name}:${step}` }) as const;
  return { run, unit, giveUp };
}

/**
 * The next step thinks in the same activity. So each step of a loop that acts is one activity, which keeps the history
 * short.
 */
export function withNextThought(
  act: ActivityRun<TaskStepInput, ActAttempt>,
  { other }: Wrapped,
): ActivityRun<TaskStepInput, ActAttempt> {
  const think = other('thinkTask');
  return async (ports, input) => {
    const acted = await act(ports, input);
    // The workflow asks for the next step.
    if (acted.kind !== 'acted' || ports.lone) return acted;
    return { kind: 'acted', next: await think(ports, { ...input, step: input.step + 1 }) };
  };
}

async function giveUpPhase(
  { store }: ActivityDependencies,
  input: TaskStepInput,
  phase: TaskPhase,
  error: StoredError,
): Promise<TaskPause> {
  const failed = await failTask(store, { run: fromRun(store, input), step: input.step }, { phase, ...error });
  return { kind: failed === 'terminated' ? failed : 'stops' };
}

/** The phase of a step, derived from what it has stored. */
async function phaseAt(
  { store }: ActivityDependencies,
  { threadId, step }: TaskStepInput,
): Promise<TaskPhase> {
  const { steps } = await store.tasks.readLoop(threadId, 1);
  return steps.some((each) => each.step === step) ? 'decide' : 'observe';
}

/**
 * Only an act that may be repeated is retried, and can be given up. An act that is already over did not cause the
 * crash.
 */
async function giveUpAct(
  ports: ActivityDependencies,
  input: TaskStepInput,
  { code, message }: StoredError,
): Promise<ActAttempt> {
  const { store } = ports;
  const { step } = input;
  const run = fromRun(store, input);
  const attempt = randomUUID();
  const begun = await store.tasks.beginAct({ ...run, step, attempt, again: true });
  if (begun.kind === 'terminated') return begun;
  if (begun.kind === 'settled') return { kind: 'acted' };
  const outcome = { ok: false, error: message, code };
  await store.tasks.endAct({ threadId: run.threadId, step, attempt, outcome });
  return afterFailure(ports, await openFrame(ports, input), outcome);
}
