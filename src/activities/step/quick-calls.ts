/**
 * Runs the quick calls at the beginning of an answer within the step's own activity, which saves one activity per call.
 * They are begun, judged and stored as in separate activities (`tool/run-tool.ts`), one after the other.
 * - The step's outcome lists the calls that have ended, from the first on. The workflow runs the rest in separate
 *   activities: from the first call that is not quick, met a fault, waits for an answer, must run alone, or was not
 *   begun because the worker is shutting down.
 * - Quick calls run after the step's unit of work, not within it. What takes the process down is the tool
 *   (author/unit.ts).
 * - Another attempt finds the answer in the store, and each call as it was left. It runs again those without a
 *   result.
 * - Once the step is cancelled no call begins. The workflow has gone on by then, and the store settles the rest.
 */
import type {
  ModelStepOutcome,
  StepCalls,
  SubpromptAttempt,
  ToolAttempt,
  ToolCallInput,
  ToolCallOutcome,
} from '../../core/thread/step.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { ActivityDependencies, ActivityRun, Wrapped } from '../base/dependencies.ts';
import { abortError, abortSignal, resultBytes, showProgress } from '../base/guard.ts';

/** The thread and the execution that the calls belong to. */
type CallingExecution = Pick<ToolCallInput, 'threadId' | 'storeId' | 'executionId'>;
type StepOutcome = ModelStepOutcome | SubpromptAttempt;

/** Bytes kept free for what else is added to the outcome. */
const RESERVED_BYTES = 256;

/** Wraps a step of the thread's own, or of a sub-prompt. */
export function withQuickCalls<Input extends CallingExecution, Outcome extends StepOutcome>(
  step: ActivityRun<Input, Outcome>,
  { other }: Wrapped,
): ActivityRun<Input, Outcome> {
  const call = other('runTool', 'effectsDue');
  return async (dependencies, input) => {
    const outcome = await step(dependencies, input);
    // A lone process runs its unit and nothing else.
    if (outcome.kind !== 'step' || ('exceeded' in outcome && outcome.exceeded) || dependencies.lone)
      return outcome;
    const { executionId = input.executionId } = 'executionId' in outcome ? outcome : {};
    const ran = await runCalls({ ...input, executionId }, outcome, dependencies, call);
    return fitsResult(outcome, ran) ? { ...outcome, ran } : outcome;
  };
}

async function runCalls(
  { threadId, storeId, executionId }: CallingExecution,
  { step, calls, callCount }: StepCalls & { readonly step: number },
  dependencies: ActivityDependencies,
  run: ActivityRun<ToolCallInput, ToolAttempt>,
): Promise<readonly ToolCallOutcome[]> {
  const ran: ToolCallOutcome[] = [];
  for (const [index, { name, mode }] of calls.entries()) {
    if (mode !== 'quick') break;
    if (abortSignal().aborted) throw abortError();
    if (dependencies.leaving.aborted) break;
    showProgress(`running ${name} (${index + 1} of ${callCount})`);
    const call = { threadId, storeId, step, index, executionId };
    const outcome = await run(dependencies, call).catch(deferToWorkflow);
    if (outcome === 'left') break;
    if (outcome.kind === 'waits' || outcome.kind === 'later') break;
    ran.push(outcome);
    if (outcome.kind === 'terminated' || outcome.kind === 'exceeded') break;
  }
  return ran;
}

function deferToWorkflow(): 'left' {
  if (abortSignal().aborted) throw abortError();
  return 'left';
}

/** If the result has no room for the outcomes, the workflow asks for each call and receives what is stored. */
function fitsResult(outcome: StepCalls, ran: readonly ToolCallOutcome[]): boolean {
  return ran.length > 0 && resultBytes({ ...outcome, ran }) <= LIMITS.activityResultBytes - RESERVED_BYTES;
}
