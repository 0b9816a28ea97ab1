/**
 * Model steps, sub-prompts and calls of subagents as units of author work: providers, hooks and schemas are author
 * code. A unit that is given up fails permanently; the workflow then fails the step, or ends the call with the error
 * code.
 */
import { ApplicationFailure } from '@temporalio/common';
import type { ModelStepInput, StoredError, ToolCallInput, ToolCallOutcome } from '../../core/thread/step.ts';
import type { AuthorRun } from '../../state/author-run.ts';
import type { Unit } from '../author/unit.ts';
import { currentRunId } from '../base/run-ref.ts';
import { giveUpCall } from '../tool-gate/given-up-call.ts';
import { beginCall } from './resumable-call.ts';

async function failPermanently(_: object, __: object, { code, message }: StoredError): Promise<never> {
  throw ApplicationFailure.nonRetryable(message, code);
}

export const MODEL_UNIT = {
  unit: ({ threadId, ordinal, agent = '' }: ModelStepInput): AuthorRun => ({
    code: 'model',
    name: agent,
    threadId,
    work: `${threadId}:model:${currentRunId()}:${ordinal}`,
  }),
  giveUp: failPermanently,
};

/** A call whose attempt has a fixed name (resumable-call.ts): its request to the prompt, or to the subagent. */
export const CALL_UNIT = {
  unit: ({ threadId, step, index }: ToolCallInput): AuthorRun => ({
    code: 'subprompt',
    name: `step ${step}, call ${index}`,
    threadId,
    work: `${threadId}:${step}:${index}`,
  }),
  giveUp: failPermanently,
};

/**
 * The end of such a call, with the hooks around its result. If it is given up, the result is stored without hooks: a
 * call must have a result.
 */
export function callEndUnit(
  holder: 'subprompt' | 'subagent',
): Omit<Unit<ToolCallInput, ToolCallOutcome>, 'run'> {
  return {
    unit: CALL_UNIT.unit,
    async giveUp(dependencies, input, error) {
      const begun = await beginCall(dependencies, input, holder);
      if (begun.kind === 'over') return begun.outcome;
      const { key, begun: held } = begun.call;
      return giveUpCall(dependencies.store, key, held.call.name, error);
    },
  };
}
