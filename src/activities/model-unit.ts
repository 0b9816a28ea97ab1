/**
 * Model steps and sub-prompts as units of an author's work: providers, hooks and tools' schemas are code of theirs. One that is given up
 * fails for good; the workflow then fails the step, or the call of the prompt, with the code.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ModelStepInput, StoredError, ToolCallInput } from '../core/step.ts';
import type { AuthorRun } from '../state/author-run.ts';
import { runUnit } from './author-unit.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { currentRunId } from './run-ref.ts';

type Activity<Input, Output> = (input: Input) => Promise<Output>;

export function asModelStep<Output>(
  dependencies: ActivityDependencies,
  run: Activity<ModelStepInput, Output>,
): Activity<ModelStepInput, Output> {
  return (input) => {
    const { threadId, ordinal, agent = '' } = input;
    const work = `${threadId}:model:${currentRunId()}:${ordinal}`;
    const unit = { code: 'model', name: agent, threadId, work } as const;
    return runModelUnit(dependencies, { unit, activity: 'modelStep', input, here: () => run(input) });
  };
}

export function asSubprompt<Output>(
  dependencies: ActivityDependencies,
  run: Activity<ToolCallInput, Output>,
): Activity<ToolCallInput, Output> {
  return (input) => {
    const { threadId, step, index } = input;
    const unit = {
      code: 'subprompt',
      name: `${step}.${index}`,
      threadId,
      work: `${threadId}:${step}:${index}`,
    } as const;
    return runModelUnit(dependencies, { unit, activity: 'runSubprompt', input, here: () => run(input) });
  };
}

interface ModelUnit<Output> {
  readonly unit: AuthorRun;
  readonly activity: 'modelStep' | 'runSubprompt';
  readonly input: unknown;
  readonly here: () => Promise<Output>;
}

function runModelUnit<Output>(dependencies: ActivityDependencies, unit: ModelUnit<Output>): Promise<Output> {
  const repeated = Context.current().info.attempt > 1;
  return runUnit(dependencies, { ...unit, repeated, givenUp: failForGood });
}

async function failForGood({ code, message }: StoredError): Promise<never> {
  throw ApplicationFailure.nonRetryable(message, code);
}
