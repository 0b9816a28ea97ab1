/**
 * The quick calls with which an answer begins, within the step's own activity: an activity less for each. They are begun, judged and
 * stored as in activities of their own (`tool/run-tool.ts`), one after the other.
 * Q1. The step's outcome tells of those that have ended, from the first on. The workflow runs what is left, each in an activity of its
 *     own: from the first that is not quick, met a fault, waits for an answer, is to run alone, or was not begun by a worker that is shutting down.
 * Q2. They run behind the step's unit of work, not within it: what takes the process down is the tool (author/unit.ts).
 * Q3. Another attempt finds the answer in the store, and each call as it was left. It runs again what has no result.
 * Q4. Once the step is cancelled no call begins. The workflow has gone on by then, and the store settles what is left.
 */
import type { ModelStepOutcome, StepCalls, ToolCallInput, ToolCallOutcome } from '../../core/thread/step.ts';
import type { SubpromptAttempt } from '../../core/thread/wait-step.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { type Activity, abortError, abortSignal, resultBytes } from '../base/guard.ts';
import { showProgress } from '../base/progress.ts';
import { runTool } from '../tool/run-tool.ts';

/** Whose calls they are. */
type Caller = Pick<ToolCallInput, 'threadId' | 'storeId' | 'executionId'>;
type StepOutcome = ModelStepOutcome | SubpromptAttempt;

/** Left for what else is added to the outcome. */
const SPARE_BYTES = 256;

/** Of a step of the thread's own, and of a sub-prompt's. */
export function withQuickCalls<Input extends Caller, Outcome extends StepOutcome>(
  dependencies: ActivityDependencies,
  step: Activity<Input, Outcome>,
): Activity<Input, Outcome> {
  return async (input) => {
    const outcome = await step(input);
    // Q2: a lone process runs its unit and nothing else.
    if (outcome.kind !== 'step' || ('exceeded' in outcome && outcome.exceeded) || dependencies.lone)
      return outcome;
    const { executionId = input.executionId } = 'executionId' in outcome ? outcome : {};
    const ran = await runCalls(dependencies, { ...input, executionId }, outcome);
    return hasRoom(outcome, ran) ? { ...outcome, ran } : outcome;
  };
}

async function runCalls(
  dependencies: ActivityDependencies,
  { threadId, storeId, executionId }: Caller,
  { step, calls, callCount }: StepCalls & { readonly step: number },
): Promise<readonly ToolCallOutcome[]> {
  const ran: ToolCallOutcome[] = [];
  for (const [index, { name, mode }] of calls.entries()) {
    if (mode !== 'quick') break;
    // Q4: cancelled.
    if (abortSignal().aborted) throw abortError();
    // Q1: left to other workers.
    if (dependencies.leaving.aborted) break;
    showProgress(`running ${name} (${index + 1} of ${callCount})`);
    const call = { threadId, storeId, step, index, executionId };
    const outcome = await runTool(dependencies, call).catch(leaveToWorkflow);
    if (outcome === 'left') break;
    // Q1: the workflow waits.
    if (outcome.kind === 'waits' || outcome.kind === 'later') break;
    ran.push(outcome);
    if (outcome.kind === 'terminated' || outcome.kind === 'exceeded') break;
  }
  return ran;
}

function leaveToWorkflow(): 'left' {
  if (abortSignal().aborted) throw abortError();
  return 'left';
}

/** Where there is no room to tell of them, the workflow asks for each, and hears what is stored. */
function hasRoom(outcome: StepCalls, ran: readonly ToolCallOutcome[]): boolean {
  return ran.length > 0 && resultBytes({ ...outcome, ran }) <= LIMITS.activityResultBytes - SPARE_BYTES;
}
