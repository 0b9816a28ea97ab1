/**
 * Runs the calls at the beginning of an answer within the step's own activity, as far as they are short, which saves an
 * activity per call. They are begun, judged and stored as in separate activities (`tool/run-tool.ts`), one after the
 * other; those that may be under way together are (core/thread/call-group.ts).
 * - A call is short if its tool is quick by its definition, or has proved to be short (base/activity-load.ts). A tool
 *   with `activity: 'own'` never runs here, and with one step per activity no tool does.
 * - The step's outcome lists the calls that have ended, from the first on. The workflow runs the rest in separate
 *   activities: from the first call that is not short, met a fault, waits for an answer, must run alone, or was not
 *   begun because the worker is shutting down.
 * - The first call begins in the transaction that stores the answer.
 * - The calls run after the step's unit of work, not within it. What takes the process down is the tool
 *   (author/unit.ts).
 * - Another attempt finds the answer in the store, and each call as it was left. It runs again those without a
 *   result; a call that may run only once, and has begun, is unknown.
 * - Once the step is cancelled no call begins. The workflow has gone on by then, and the store settles the rest.
 */

import { endOfGroup, runBeside } from '../../core/thread/call-group.ts';
import type {
  CallRef,
  ModelStepOutcome,
  StepCalls,
  SubpromptAttempt,
  ToolAttempt,
  ToolCallInput,
  ToolCallOutcome,
} from '../../core/thread/step.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { BeginTool } from '../../store/tool/tool-record.ts';
import type { ActivityDependencies, ActivityRun, FirstCall, Wrapped } from '../base/dependencies.ts';
import { abortError, abortSignal, resultBytes, showProgress } from '../base/guard.ts';
import { toBeginTool } from '../tool/run-tool.ts';
import { toCallRef } from '../tool/tool-dispatch.ts';

/** The thread and the execution that the calls belong to. */
type CallingExecution = Pick<ToolCallInput, 'threadId' | 'storeId' | 'executionId'> & {
  /** True if all calls of the step have ended: their results are read, however long they took. */
  readonly isFollowed?: boolean;
};
type StepOutcome = ModelStepOutcome | SubpromptAttempt;

/** Bytes kept free for what else is added to the outcome. */
const RESERVED_BYTES = 384;

/** Wraps a step of the thread's own, or of a sub-prompt. */
export function withInsideCalls<Input extends CallingExecution, Outcome extends StepOutcome>(
  step: ActivityRun<Input, Outcome>,
  { other }: Wrapped,
): ActivityRun<Input, Outcome> {
  const call = other('runTool', 'effectsDue');
  return async (dependencies, input) => {
    const firstCall = openFirstCall(dependencies);
    const outcome = await step(dependencies.lone ? dependencies : { ...dependencies, firstCall }, input);
    // A lone process runs its unit and nothing else.
    if (outcome.kind !== 'step' || ('exceeded' in outcome && outcome.exceeded) || dependencies.lone)
      return outcome;
    const { executionId = input.executionId } = 'executionId' in outcome ? outcome : {};
    const ran = await runCalls({ ...input, executionId }, outcome, { ...dependencies, firstCall }, call);
    return fitsResult(outcome, ran) ? { ...outcome, ran } : outcome;
  };
}

async function runCalls(
  { threadId, storeId, executionId, isFollowed = false }: CallingExecution,
  { step, calls, callCount }: StepCalls & { readonly step: number },
  { firstCall, ...dependencies }: ActivityDependencies,
  run: ActivityRun<ToolCallInput, ToolAttempt>,
): Promise<readonly ToolCallOutcome[]> {
  const portsOf = (index: number): ActivityDependencies =>
    index === 0 ? { ...dependencies, firstCall } : dependencies;
  const mayBegin = (index: number): boolean => {
    // A call that has begun runs, whatever has happened since: its own signal is aborted.
    if (portsOf(index).firstCall?.begun) return true;
    if (!isFollowed && !runsInside(dependencies, calls[index] as CallRef)) return false;
    if (abortSignal().aborted) throw abortError();
    return !dependencies.leaving.aborted;
  };
  const runAt = (index: number): Promise<InsideOutcome> => {
    showProgress(`running ${calls[index]?.name} (${index + 1} of ${callCount})`);
    const call = { threadId, storeId, step, index, executionId };
    return run(portsOf(index), call).catch(deferToWorkflow);
  };
  const ran: ToolCallOutcome[] = [];
  while (ran.length < calls.length) {
    const from = ran.length;
    // The short calls at the beginning of a group.
    const end = endOfGroup(calls, from);
    let to = from;
    while (to < end && mayBegin(to)) to++;
    for (const outcome of await runBeside({ from, to }, runAt, isOver)) {
      if (outcome === 'left' || outcome.kind === 'waits' || outcome.kind === 'later') return ran;
      ran.push(outcome);
      if (isOver(outcome)) return ran;
    }
    if (ran.length < end) return ran;
  }
  return ran;
}

type InsideOutcome = ToolAttempt | 'left';

/** True if no later call of the answer begins. */
function isOver(outcome: InsideOutcome): boolean {
  return outcome !== 'left' && (outcome.kind === 'terminated' || outcome.kind === 'exceeded');
}

function openFirstCall(dependencies: ActivityDependencies): FirstCall {
  let command: BeginTool | undefined;
  return {
    offer({ threadId, runId, step }, name) {
      const inside = runsInside(dependencies, toCallRef(dependencies.registry(), name));
      command = inside ? toBeginTool(dependencies, { threadId, runId, step, index: 0 }) : undefined;
      return command;
    },
    get command() {
      return command;
    },
  };
}

/** True for a call of a tool that is short, as far as this process knows. */
export function runsInside(
  { registry, load, settings }: Pick<ActivityDependencies, 'registry' | 'load' | 'settings'>,
  { name, mode }: Pick<CallRef, 'name' | 'mode'>,
): boolean {
  if (settings.stepsPerActivity === 1) return false;
  if (mode === 'quick') return true;
  if (mode !== 'once' && mode !== 'idempotent') return false;
  const tool = registry().tools.get(name);
  return tool !== undefined && tool.activity !== 'own' && load?.isShort(tool) === true;
}

function deferToWorkflow(): 'left' {
  if (abortSignal().aborted) throw abortError();
  return 'left';
}

/** If the result has no room for the outcomes, the workflow asks for each call and receives what is stored. */
function fitsResult(outcome: StepCalls, ran: readonly ToolCallOutcome[]): boolean {
  return ran.length > 0 && resultBytes({ ...outcome, ran }) <= LIMITS.activityResultBytes - RESERVED_BYTES;
}
