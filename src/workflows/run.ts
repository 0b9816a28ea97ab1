/** What the runs of threads and of tasks have in common: the input of their start, and their end by continuing as new. */
import { ApplicationFailure, makeContinueAsNewFunc, type Workflow, workflowInfo } from '@temporalio/workflow';
import type { Settings } from '../core/thread/open-thread.ts';
import { InvalidStart } from '../core/thread/start-input.ts';
import { type Letter, readLetter } from './letter.ts';

/** Reads the input, which arrives as an undecoded letter (interceptors.ts). An invalid one fails the workflow. */
export function readStart<Start>(
  input: unknown,
  parse: (value: unknown, workflowId: string) => Start,
): Start {
  try {
    // The server limits the size of the input.
    const read = readLetter(input as Letter, Number.POSITIVE_INFINITY);
    if (!read.ok) throw new InvalidStart(read.refusal.reason);
    return parse(read.value, workflowInfo().workflowId);
  } catch (error) {
    // Any other error, such as a carried state that only a newer worker can read, fails the task until one takes it.
    if ((error as Error).name !== 'InvalidStart') throw error;
    throw ApplicationFailure.nonRetryable((error as Error).message, 'InvalidStart');
  }
}

/** True if the run's history has become long, or another build of the worker is to take it. */
export function mustContinueAsNew(settings: Settings | undefined): boolean {
  const { continueAsNewSuggested, historyLength, targetWorkerDeploymentVersionChanged } = workflowInfo();
  const limit = settings?.historySoftLimit ?? Number.POSITIVE_INFINITY;
  return continueAsNewSuggested || historyLength >= limit || targetWorkerDeploymentVersionChanged === true;
}

/** Returns the function that ends the run and begins the next one. */
export function nextRunOf<Run extends Workflow>() {
  const upgrade = workflowInfo().targetWorkerDeploymentVersionChanged === true;
  return makeContinueAsNewFunc<Run>(upgrade ? { initialVersioningBehavior: 'AUTO_UPGRADE' } : {});
}
