/**
 * Model steps, sub-prompts and calls of subagents as units of author work: providers, hooks and schemas are author
 * code. A unit that is given up fails permanently; the workflow then fails the step, or ends the call with the error
 * code.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ModelStepInput, StoredError, ToolCallInput, ToolCallOutcome } from '../../core/thread/step.ts';
import type { AuthorRun } from '../../state/author-run.ts';
import { runUnit } from '../author/unit.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import type { Activity } from '../base/guard.ts';
import { currentRunId } from '../base/run-ref.ts';
import { signalAncestors, waitsForPeople } from '../signals/signal-ancestors.ts';
import { giveUpCall } from '../tool-gate/given-up-call.ts';
import { beginCall } from './resumable-call.ts';

export function asModelStep<Output extends { readonly kind: string }>(
  dependencies: ActivityDependencies,
  run: Activity<ModelStepInput, Output>,
): Activity<ModelStepInput, Output> {
  return (input) => {
    const { threadId, ordinal, agent = '' } = input;
    const work = `${threadId}:model:${currentRunId()}:${ordinal}`;
    const unit = { code: 'model', name: agent, threadId, work } as const;
    const step = withWaitSignal(dependencies, threadId, () => run(input));
    const here = async () => {
      if (input.waited) await signalAncestors(dependencies.store, threadId);
      return step();
    };
    const asked = { unit, activity: 'modelStep', input, here } as const;
    return runUnit(dependencies, { ...asked, repeated: isRepeated(), givenUp: failPermanently });
  };
}

/** A call whose attempt has a fixed name (resumable-call.ts): its request to the prompt, or to the subagent. */
export function asResumableCall<Output extends { readonly kind: string }>(
  dependencies: ActivityDependencies,
  activity: 'runSubprompt' | 'callSubagent',
  run: Activity<ToolCallInput, Output>,
): Activity<ToolCallInput, Output> {
  return (input) => {
    const here = withWaitSignal(dependencies, input.threadId, () => run(input));
    const asked = { unit: toSubpromptUnit(input), activity, input, here };
    return runUnit(dependencies, { ...asked, repeated: isRepeated(), givenUp: failPermanently });
  };
}

/** Wakes the ancestors that the thread holds up if `run` ends in a wait for people. */
function withWaitSignal<Output extends { readonly kind: string }>(
  { store }: ActivityDependencies,
  threadId: string,
  run: () => Promise<Output>,
): () => Promise<Output> {
  return async () => {
    const outcome = await run();
    if (waitsForPeople(outcome)) await signalAncestors(store, threadId);
    return outcome;
  };
}

/**
 * The end of such a call, with the hooks around its result. If it is given up, the result is stored without hooks: a
 * call must have a result.
 */
export function asCallEnd<Input extends ToolCallInput, Output>(
  dependencies: ActivityDependencies,
  activity: 'finishSubprompt' | 'finishSubagent',
  run: Activity<Input, Output>,
): Activity<Input, Output | ToolCallOutcome> {
  const holder = activity === 'finishSubprompt' ? 'subprompt' : 'subagent';
  return (input) => {
    const givenUp = async (error: StoredError): Promise<Output | ToolCallOutcome> => {
      const begun = await beginCall(dependencies, input, holder);
      if (begun.kind === 'over') return begun.outcome;
      const { key, begun: held } = begun.call;
      return giveUpCall(dependencies.store, key, held.call.name, error);
    };
    const asked = { unit: toSubpromptUnit(input), activity, input, here: () => run(input), givenUp };
    return runUnit<Output | ToolCallOutcome>(dependencies, { ...asked, repeated: isRepeated() });
  };
}

function toSubpromptUnit({ threadId, step, index }: ToolCallInput): AuthorRun {
  const work = `${threadId}:${step}:${index}`;
  return { code: 'subprompt', name: `step ${step}, call ${index}`, threadId, work };
}

function isRepeated(): boolean {
  return Context.current().info.attempt > 1;
}

async function failPermanently({ code, message }: StoredError): Promise<never> {
  throw ApplicationFailure.nonRetryable(message, code);
}
