/**
 * `modelStep`: one step of the cycle up to the stored answer (runtime §3.1-3.4), through the model gate
 * (`model-gate/model-gate.ts`). Short calls and further steps follow within the same activity (`inside-calls.ts`,
 * `step-loop.ts`); other calls are separate activities.
 */

import { randomUUID } from 'node:crypto';
import type { AuthorRun } from '../../author/guard/author-run.ts';
import type { Registry } from '../../core/author/registry.ts';
import { describeFailures } from '../../core/guard/failure.ts';
import { findActiveSide, hasTwoSides } from '../../core/project/active-side.ts';
import { refuseContent } from '../../core/thread/item.ts';
import type { Session } from '../../core/thread/session.ts';
import type { ModelStepInput, ModelStepOutcome, PausedStep, StoredStep } from '../../core/thread/step.ts';
import type { BegunStep, StepRecord } from '../../store/step/step-record.ts';
import { failPermanently } from '../author/unit.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { throwIfLeaving } from '../base/guard.ts';
import { currentRunId, fromRun } from '../base/run-ref.ts';
import { toStopRules } from '../model/request.ts';
import { type AnsweredOutcome, answerStep } from '../model-gate/model-gate.ts';
import { type DrainedStep, receiveInput } from '../model-gate/receive-input.ts';
import { signalAncestors } from '../signals/wake-relatives.ts';
import { toStepCalls } from '../tool/tool-dispatch.ts';
import { toWaitingCall } from '../tool-gate/waiting-call.ts';

async function modelStep(
  dependencies: ActivityDependencies,
  input: ModelStepInput,
): Promise<ModelStepOutcome> {
  const { store } = dependencies;
  throwIfLeaving(dependencies);
  const run = fromRun(store, input);
  const begun = await receiveInput(dependencies, run, readContent(dependencies, input));
  switch (begun.kind) {
    case 'terminated':
    case 'limited':
    case 'canceled':
      return begun;
    case 'paused': {
      const paused = await openPause(dependencies, input.threadId, begun);
      // The rejections have already been logged.
      if (paused === 'again') return modelStep(dependencies, { ...input, rejections: [] });
      return paused === 'terminated' ? { kind: paused } : paused;
    }
    case 'nothing_to_do':
    case 'failed':
      return { ...begun, ...(await readSession(dependencies, input)) };
    case 'stored':
      // If a stored step was taken over, the items of this request are queued.
      return {
        ...(await describeStored(dependencies, input, begun.record, begun)),
        waiting: await dependencies.store.queue.count(input.threadId),
      };
    case 'call': {
      const answered = await answerStep(dependencies, begun);
      return describeAnswer(dependencies, input, begun, answered);
    }
  }
}

/** Providers, hooks and schemas are author code. */
export const MODEL_STEP = {
  run: modelStep,
  unit: ({ threadId, ordinal, agent = '' }: ModelStepInput): AuthorRun => ({
    code: 'model',
    name: agent,
    threadId,
    work: `${threadId}:model:${currentRunId()}:${ordinal}`,
  }),
  giveUp: failPermanently,
};

function readContent({ refusesContent }: ActivityDependencies, input: ModelStepInput): ModelStepInput {
  if (!refusesContent) return input;
  const { items, rejections } = refuseContent(input.items);
  return { ...input, items, rejections: [...input.rejections, ...rejections] };
}

async function describeAnswer(
  dependencies: ActivityDependencies,
  input: ModelStepInput,
  { ref: { step }, swept, taken, executionId }: DrainedStep,
  answered: AnsweredOutcome,
): Promise<ModelStepOutcome> {
  switch (answered.kind) {
    case 'terminated':
      return answered;
    case 'blocked':
      return { ...answered, step, swept };
    case 'failed':
      return { ...answered, step, swept, ...(await readSession(dependencies, input)) };
    case 'closed':
      return { kind: 'nothing_to_do', step, swept, ...(await readSession(dependencies, input)) };
    case 'stored':
      return describeStored(dependencies, input, answered.record, { swept, taken, executionId });
  }
}

/** Reads the session for a workflow that is behind the store, or whose step has no answer to return. */
async function readSession(
  { registry, store }: ActivityDependencies,
  { threadId, agent = '' }: ModelStepInput,
): Promise<{ session?: Session }> {
  if (!hasTwoSides(registry().agents.get(agent))) return {};
  const thread = await store.threads.get(threadId);
  return thread ? { session: thread.session } : {};
}

async function describeStored(
  { registry, store }: ActivityDependencies,
  { threadId, agent }: ModelStepInput,
  record: StepRecord,
  { swept, taken, executionId }: Pick<DrainedStep, 'swept' | 'taken' | 'executionId'>,
): Promise<StoredStep> {
  const project = registry();
  return {
    kind: 'step',
    ...describe(project, record),
    swept,
    taken,
    executionId,
    agent: agent !== undefined && record.agent !== agent ? record.agent : undefined,
    waiting: project.hooks.size > 0 ? await store.queue.count(threadId) : undefined,
  };
}

type Described = Omit<StoredStep, 'kind' | 'swept' | 'taken' | 'waiting' | 'executionId'>;

function describe(project: Registry, record: StepRecord): Described {
  const { agent, side, turns } = record;
  const active = findActiveSide(project, agent, side);
  return {
    step: record.step,
    answered: record.kind === 'model',
    text: record.text,
    ...toStepCalls(project, record.calls, record.parallel),
    // If its agent was removed from the project, a running thread still needs rules.
    rules: active ? toStopRules(active) : { stopOnResponse: true },
    model: record.model ?? '',
    moreInput: record.moreInput,
    directive: record.directive,
    exceeded: record.exceeded,
    ...(hasTwoSides(active?.agent) ? { side, turns } : {}),
  };
}

type Paused = Extract<BegunStep, { kind: 'paused' }>;

/**
 * For a subagent that has used up its rounds, or an execution that asks for help: opens its wait, or reports that the
 * step must be begun again. The wait is found by its key: another attempt waits for the same one.
 */
async function openPause(
  { store, probe }: ActivityDependencies,
  threadId: string,
  { pause, ...begun }: Paused,
): Promise<(PausedStep & Pick<Paused, 'swept'>) | 'again' | 'terminated'> {
  const { waits } = store;
  const { interruptedWait, key, executionId, agent } = pause;
  if (interruptedWait !== undefined) {
    await waits.close(interruptedWait, 'spoken to');
    await signalAncestors(store, threadId);
    return 'again';
  }
  const opened = await waits.open({
    id: randomUUID(),
    threadId,
    key,
    kind: 'paused',
    name: agent,
    executionId,
    blocks: true,
    ...describePause(pause),
  });
  await probe?.('wait_opened');
  if (opened.kind === 'open') return { ...begun, wait: toWaitingCall(opened.wait) };
  return opened.kind === 'terminated' ? 'terminated' : 'again';
}

/** What people see of the wait. */
function describePause({ agent, rounds, failures }: Paused['pause']) {
  if (failures) return { summary: describeFailures(agent, failures), data: failures };
  const { round, maxRounds } = rounds ?? {};
  const summary = `more rounds for ${agent}: it has used ${round} of ${maxRounds} rounds without finishing`;
  return { summary, data: rounds };
}
