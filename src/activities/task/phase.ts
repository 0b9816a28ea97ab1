/**
 * The activities of a task's loop as units of author work (activities/author/unit.ts). One that has taken its worker
 * process down is retried in a lone process, and given up after three strikes: as a runtime error of the task, or as
 * the outcome of its act.
 * P1. An act and the thoughts after it are separate units: in a lone process, one runs without the other.
 * P2. The thread that waits for the task learns of its questions to people.
 */
import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import type { TaskPhase } from '../../core/author/task.ts';
import type { TaskVerdict } from '../../core/task/control.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type {
  ActAttempt,
  EndTaskInput,
  ReadinessOutcome,
  TaskOutcome,
  TaskPause,
  TaskStepInput,
  ThoughtOutcome,
} from '../../core/thread/task-step.ts';
import { runUnit } from '../author/unit.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { fromRun } from '../base/run-ref.ts';
import { signalAncestors } from '../signals/signal-ancestors.ts';
import { actOnce, afterFailure } from './act.ts';
import { checkTask } from './check-readiness.ts';
import { endTask } from './end-task.ts';
import { openFrame } from './task-frame.ts';
import { thinkTask } from './think.ts';

export async function runCheck(ports: ActivityDependencies, input: TaskStepInput): Promise<ReadinessOutcome> {
  const checked = await runUnit<ReadinessOutcome>(ports, {
    ...unitOf('checkTask', input),
    here: () => checkTask(ports, input),
    givenUp: (error) => failTask(ports, input, 'readiness', error),
  });
  await signalIfWaiting(ports, input, checked);
  return checked;
}

export async function runThink(ports: ActivityDependencies, input: TaskStepInput): Promise<ThoughtOutcome> {
  const thought = await runUnit<ThoughtOutcome>(ports, {
    ...unitOf('thinkTask', input),
    here: () => thinkTask(ports, input),
    givenUp: async (error) => failTask(ports, input, await phaseAt(ports, input), error),
  });
  await signalIfWaiting(ports, input, thought);
  return thought;
}

/**
 * The next step thinks in the same activity. So each step of a loop that acts is one activity, which keeps the history
 * short.
 */
export async function runAct(ports: ActivityDependencies, input: TaskStepInput): Promise<ActAttempt> {
  const acted = await runUnit<ActAttempt>(ports, {
    ...unitOf('actTask', input),
    here: () => actOnce(ports, input),
    givenUp: (error) => giveUpAct(ports, input, error),
  });
  await signalIfWaiting(ports, input, acted);
  // P1: the workflow asks for the next step.
  if (acted.kind !== 'acted' || ports.lone) return acted;
  return { kind: 'acted', next: await runThink(ports, { ...input, step: input.step + 1 }) };
}

/** Ends the task even if its records cannot be made. */
export function runEnd(ports: ActivityDependencies, input: EndTaskInput): Promise<TaskOutcome> {
  return runUnit<TaskOutcome>(ports, {
    ...unitOf('endTask', input),
    here: () => endTask(ports, input),
    givenUp: (error) => endTask(ports, input, error),
  });
}

type PhaseActivity = 'checkTask' | 'thinkTask' | 'actTask' | 'endTask';

const PHASE_NAMES: Readonly<Record<PhaseActivity, string>> = {
  checkTask: 'preflight',
  thinkTask: 'think',
  actTask: 'act',
  endTask: 'end',
};

function unitOf(activity: PhaseActivity, input: TaskStepInput) {
  const { threadId, step } = input;
  const name = `${PHASE_NAMES[activity]}, step ${step}`;
  const unit = {
    code: 'task',
    name,
    threadId,
    work: `${threadId}:${PHASE_NAMES[activity]}:${step}`,
  } as const;
  return { unit, activity, input, repeated: Context.current().info.attempt > 1 };
}

/** P2: its parent learns of waits. */
async function signalIfWaiting(
  { store }: ActivityDependencies,
  { threadId }: TaskStepInput,
  { kind }: { readonly kind: string },
): Promise<void> {
  if (kind === 'waits') await signalAncestors(store, threadId);
}

async function failTask(
  { store }: ActivityDependencies,
  input: TaskStepInput,
  phase: TaskPhase,
  { code, message }: StoredError,
): Promise<TaskPause> {
  const reason = `${phase} failed: ${message}`;
  const verdict: TaskVerdict = { stoppedBy: 'runtime-error', pass: false, reason, code };
  const error = { phase, stepIndex: input.step, message };
  const kept = await store.tasks.saveDecision({ ...fromRun(store, input), step: input.step, verdict, error });
  return { kind: kept.kind === 'terminated' ? 'terminated' : 'stops' };
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
