/**
 * `thinkTask`: the read-only phases of a step: observe, validate, and decide. The result of each is stored before the
 * next one begins, so another attempt goes on where a lost worker was; none of them has an effect.
 * A question is asked after them (ask.ts).
 */
import { randomUUID } from 'node:crypto';
import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import type { ActionOutcome, DecideContext } from '../../core/author/task.ts';
import {
  judgeCost,
  judgeEvals,
  judgeProgress,
  judgeRepetition,
  judgeSteps,
  meanScore,
  readinessEval,
  type TaskDecision,
  type TaskVerdict,
  toExhaustedVerdict,
} from '../../core/task/control.ts';
import { readDecision, readEvals } from '../../core/task/decision.ts';
import { decideReadiness } from '../../core/task/knowledge.ts';
import type { TaskStepInput, ThoughtOutcome } from '../../core/thread/task-step.ts';
import { toJsonText } from '../../core/value/json-value.ts';
import type { TaskStepRecord } from '../../store/task/task-record.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { toWaitingCall } from '../tool-gate/waiting-call.ts';
import {
  ACTION_BYTES,
  failTask,
  fingerprintOf,
  openFrame,
  type PhaseResult,
  runPhase,
  STATE_BYTES,
  type TaskFrame,
  toDecideContext,
} from './task-frame.ts';
import { awaitThread } from './thread.ts';

export async function thinkTask(
  dependencies: ActivityDependencies,
  input: TaskStepInput,
): Promise<ThoughtOutcome> {
  const { probe } = dependencies;
  const frame = await openFrame(dependencies, input);
  const { loop, step } = frame;
  if (loop.task.verdict) return { kind: 'stops' };
  if (loop.task.steps > step) return { kind: 'goes_on' };
  await probe?.('task_thinking');
  const known = loop.steps.find((each) => each.step === step);
  const seen = known ?? (await observe(dependencies, frame));
  // Another attempt stored its observation first, and that one counts.
  if (seen === 'known') return thinkTask(dependencies, input);
  if (seen === 'terminated' || seen === 'stops') return { kind: seen };
  await probe?.('task_observed');
  const decided = known?.decision ?? (await decide(dependencies, frame, seen, known !== undefined));
  if (decided === 'known') return thinkTask(dependencies, input);
  if (decided === 'terminated' || decided === 'stops') return { kind: decided };
  await probe?.('task_decided');
  switch (decided.kind) {
    case 'stop':
      return { kind: 'stops' };
    case 'act':
      return { kind: 'acts' };
    case 'await':
      return awaitThread(dependencies, frame, decided);
    case 'ask':
      return askPeople(dependencies, frame, decided);
  }
}

/** Why a phase has no result of its own. */
type NoResultReason = Awaited<ReturnType<typeof failTask>>;

type Observation = Pick<TaskStepRecord, 'state' | 'evals' | 'score'> & { readonly fingerprint?: string };

async function observe(
  { store }: ActivityDependencies,
  frame: TaskFrame,
): Promise<Observation | NoResultReason> {
  const { definition, context, run, step, knowledge } = frame;
  const { adapter, minimumReadinessScore } = definition;
  const observed = await runPhase(frame, 'observe', async () =>
    toJsonText((await adapter.observe(context)) ?? null, {
      name: 'the observed state',
      maxBytes: STATE_BYTES,
    }),
  );
  if (!observed.ok) return failTask(store, frame, observed);
  const state: unknown = JSON.parse(observed.value);
  const measured = await runPhase(frame, 'validate', async () => {
    const read = readEvals(await adapter.validate?.({ ...context, state }));
    if (!read.ok) throw new Error(`validate did not return a list of evals: ${read.reason}`);
    return read.evals;
  });
  if (!measured.ok) return failTask(store, frame, measured);
  const readiness = decideReadiness(knowledge, minimumReadinessScore);
  const evals = [readinessEval(readiness.score, readiness.kind === 'ready'), ...measured.value];
  const score = meanScore(measured.value) ?? null;
  const fingerprint = fingerprintOf(state);
  const kept = await store.tasks.saveObservation({
    ...run,
    step,
    state: observed.value,
    fingerprint,
    evals,
    score,
  });
  return kept.kind === 'kept' ? { state, evals, score, fingerprint } : kept.kind;
}

/** `known`: true if the observation was read with the loop. */
async function decide(
  { store }: ActivityDependencies,
  frame: TaskFrame,
  seen: Observation,
  known: boolean,
): Promise<TaskDecision | NoResultReason> {
  const { definition, loop, limits, run, step } = frame;
  const { guards = {} } = definition;
  const own = seen.evals.slice(1);
  const standing = { steps: step, spentCostUsd: loop.task.spentCostUsd };
  const measured = known
    ? loop.measured
    : [...loop.measured, { fingerprint: seen.fingerprint ?? '', score: seen.score }];
  const context = toDecideContext(frame, seen);
  const keep = async (verdict: TaskVerdict): Promise<NoResultReason> => {
    const kept = await store.tasks.saveDecision({ ...run, step, verdict });
    return kept.kind === 'kept' ? 'stops' : kept.kind;
  };
  const before =
    judgeProgress(measured, guards) ??
    judgeCost(standing, limits) ??
    (loop.task.wallMs >= limits.maxWallMs ? toExhaustedVerdict('maxWallMs', limits.maxWallMs) : undefined);
  if (before) return keep(before);
  const stopped = await judgeStop(frame, context, own);
  if (stopped && !('pass' in stopped)) return failTask(store, frame, stopped);
  const over = stopped ?? judgeSteps(standing, limits);
  if (over) return keep(over);
  const decided = await runPhase(frame, 'decide', async () => {
    const read = readDecision(await definition.adapter.decide(context));
    if (!read.ok) throw new Error(`decide did not return a decision: ${read.reason}`);
    if (read.decision.kind === 'act' && !definition.adapter.act)
      throw new Error('it decided to act, but has no "act"');
    const text = toJsonText(read.decision, { name: 'the decision', maxBytes: ACTION_BYTES });
    return JSON.parse(text) as TaskDecision;
  });
  if (!decided.ok) return failTask(store, frame, decided);
  const decision = decided.value;
  const action = decision.kind === 'act' ? fingerprintOf(decision.action) : undefined;
  // If the step was known, the last action is its own, and the one chosen now replaces it.
  const earlier = known ? loop.actions.slice(0, -1) : loop.actions;
  const repeated = action && judgeRepetition([...earlier, action], guards);
  if (repeated) return keep(repeated);
  const verdict = decision.kind === 'stop' ? toVerdict(decision, own) : undefined;
  const kept = await store.tasks.saveDecision({
    ...run,
    step,
    decision,
    action,
    verdict,
  });
  return kept.kind === 'kept' ? decision : kept.kind;
}

type Failed = Extract<PhaseResult<unknown>, { ok: false }>;

/** Undefined if the task goes on. */
async function judgeStop(
  frame: TaskFrame,
  context: DecideContext,
  evals: Observation['evals'],
): Promise<TaskVerdict | Failed | undefined> {
  const { shouldStop } = frame.definition.adapter;
  if (!shouldStop) return judgeEvals(evals);
  const asked = await runPhase(frame, 'shouldStop', () => shouldStop(context));
  if (!asked.ok) return asked;
  const { stop, pass = false, reason, score = meanScore(evals) } = asked.value;
  if (!stop) return undefined;
  return {
    stoppedBy: 'stop-policy',
    pass,
    reason: reason ?? 'shouldStop returned stop: true',
    score,
  };
}

function toVerdict(
  { pass, reason, score, outcome }: Extract<TaskDecision, { kind: 'stop' }>,
  evals: Observation['evals'],
): TaskVerdict {
  return { stoppedBy: 'policy', pass, reason, score: score ?? meanScore(evals), outcome };
}

/**
 * Asks the question that a step has decided on. Whichever attempt takes the step opens the same wait, whose answer is
 * the step's outcome.
 */
async function askPeople(
  { store: { waits, tasks }, probe }: ActivityDependencies,
  { run, step, definition, signal }: TaskFrame,
  { question, data, expiresInMs }: Extract<TaskDecision, { kind: 'ask' }>,
): Promise<ThoughtOutcome> {
  // Set before the wait is opened: whoever sees the wait must see a task that waits.
  await tasks.rest({ ...run, waits: true });
  const opened = await retryWhileUnavailable(signal, () =>
    waits.open({
      id: randomUUID(),
      threadId: run.threadId,
      key: `ask:${step}`,
      kind: 'question',
      name: definition.name,
      summary: question,
      data: data ?? null,
      blocks: true,
      expiresInMs,
    }),
  );
  if (opened.kind === 'open') {
    await probe?.('task_asked');
    return toWaitingCall(opened.wait);
  }
  if (opened.kind !== 'over') return { kind: 'terminated' };
  await tasks.endAct({ threadId: run.threadId, step, outcome: toAnswer(opened.wait) });
  return { kind: 'goes_on' };
}

/** The answer as the adapter finds it in its history. */
function toAnswer({ answer, state, reason }: Wait): ActionOutcome {
  if (answer && 'value' in answer) return { ok: true, result: answer.value };
  const refused = answer !== null;
  const why = (answer && 'reason' in answer ? answer.reason : reason) ?? (refused ? 'refused' : state);
  return { ok: false, code: refused ? 'Refused' : 'NotAnswered', error: `It was not answered: ${why}.` };
}
