/**
 * The loop of `modelStep`: the activity goes on into the next step while nothing needs the workflow
 * (core/thread/step-loop.ts). What this side decides:
 * - Each step, the begin of each call and each result is committed before what follows. Keys and strikes are those of
 *   the step; another attempt takes over what it finds stored, one step after the other.
 * - The end of a turn is stored here as well, under the same conditions, with what follows it in a child: its report to
 *   the parent, and the end of a thread that can receive no further message.
 * - Between the check and the begin of what follows the process may stall. So the store refuses what an attempt begins
 *   or ends once a newer attempt or activity has done so (store/transaction/thread-transaction.ts, `admit`).
 * - Each step uses the project as it is when it begins.
 * - Before each further step the worker must have room (at most three quarters of its slots taken), not be shutting
 *   down, have time left, and no effect may be due. Nothing that has begun is cut off.
 * - A step that an earlier attempt has begun is always asked for, so that the outcome is that of the last one stored.
 * - A fault of a further step is left to its own activity: the steps before it are not attempted again.
 * - After a call that took long the loop ends, and the workflow runs that tool by itself (base/activity-load.ts).
 */
import { Context } from '@temporalio/activity';
import type {
  CommitStatusInput,
  CommitStatusOutcome,
  EffectsDue,
  ModelStepInput,
  ModelStepOutcome,
  ReportOutcome,
  RunRef,
  StoredStep,
} from '../../core/thread/step.ts';
import {
  type EarlierSteps,
  judgeStep,
  type LoopInput,
  type LoopOffer,
  type LoopOutcome,
  type StoredRest,
  toNextInput,
} from '../../core/thread/step-loop.ts';
import { ENDED_BY_REPORT } from '../../core/thread/subagent-report.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { ActivityDependencies, ActivityRun, Wrapped } from '../base/dependencies.ts';
import { abortSignal, resultBytes, showProgress } from '../base/guard.ts';
import { fromRun, isRepeated } from '../base/run-ref.ts';
import { runsInside } from './inside-calls.ts';
import { openQuietHistory, type QuietHistory } from './quiet-history.ts';

/** Leaves room for what is added to the outcome. */
const MAX_BYTES = LIMITS.activityResultBytes - 128;

type Step = ModelStepOutcome & EffectsDue;
type Outcome = LoopOutcome & EffectsDue;

/** Goes on after a step whose calls have all run within this activity, and ends the turn after its last one. */
export function withStepLoop(
  run: ActivityRun<FollowedStep, Step>,
  { other }: Wrapped,
): ActivityRun<LoopInput, Outcome> {
  const ends = { commitStatus: other('commitStatus'), reportToParent: other('reportToParent') };
  return async (dependencies, { loop, ...input }) => {
    if (!loop) return run(dependencies, input);
    return runSteps(dependencies, { input, loop, history: openQuietHistory(loop), run, ...ends });
  };
}

/** `isFollowed`: an earlier attempt has begun the step after it, so all its calls have ended. */
type FollowedStep = ModelStepInput & { readonly isFollowed?: boolean };

interface Loop {
  readonly input: ModelStepInput;
  readonly loop: LoopOffer;
  readonly history: QuietHistory;
  readonly run: ActivityRun<FollowedStep, Step>;
  readonly commitStatus: ActivityRun<CommitStatusInput, CommitStatusOutcome & EffectsDue>;
  readonly reportToParent: ActivityRun<RunRef, ReportOutcome>;
}

async function runSteps(dependencies: ActivityDependencies, loop: Loop): Promise<Outcome> {
  const { input, run } = loop;
  const begun = isRepeated() ? await countBegun(dependencies, loop) : 0;
  let earlier: EarlierSteps | undefined;
  let ports = dependencies;
  for (let last = await run(ports, { ...input, isFollowed: begun > 1 }); ; ) {
    const outcome: Outcome = earlier ? { ...last, earlier } : last;
    const judged = judgeStep(input, last, earlier);
    if (judged.kind === 'workflow' || last.kind !== 'step') return outcome;
    if (judged.kind === 'step' && judged.earlier.count >= loop.loop.steps) return outcome;
    const mustGoOn = judged.kind === 'step' && judged.earlier.count < begun;
    if (!mustGoOn && !(await mayGoOn(ports, loop, last))) return outcome;
    if (judged.kind === 'rest')
      return rest(ports, loop, { ...last, ...(earlier && { earlier }) }, judged.rest);
    earlier = judged.earlier;
    showProgress(`running step ${earlier.afterStep + 1}`);
    const following = { ...input, ...toNextInput(input, earlier), isFollowed: earlier.count + 1 < begun };
    ports = dependencies.onNewestProject?.() ?? dependencies;
    const next = await run(ports, following).catch(leaveToWorkflow);
    const { effectsInMs } = last;
    if (next.kind === 'unknown' || resultBytes({ ...next, earlier }) > MAX_BYTES)
      return { kind: 'unknown', earlier, ...(effectsInMs !== undefined && { effectsInMs }) };
    last = next;
  }
}

/** Stores the end of the turn. If that has a fault, the workflow stores it: the outcome of the step is known. */
async function rest(
  dependencies: ActivityDependencies,
  loop: Loop,
  last: StoredStep & EffectsDue,
  end: Pick<CommitStatusInput, 'status' | 'reason' | 'agent' | 'session'>,
): Promise<Outcome> {
  const { threadId, storeId } = loop.input;
  const command = { threadId, storeId, ...end, ordinal: loop.loop.restOrdinal, rejections: [] };
  const committed = await loop.commitStatus(dependencies, command).catch(() => undefined);
  if (!committed) return last;
  const { effectsInMs = last.effectsInMs, ...stored } = committed;
  const followed = stored.reportDue ? await report(dependencies, loop, stored) : { rest: stored };
  const outcome = { ...last, ...followed, ...(effectsInMs !== undefined && { effectsInMs }) };
  return resultBytes(outcome) > LIMITS.activityResultBytes ? last : outcome;
}

/**
 * Delivers a child's report, and ends its thread if it can receive no further message. A report that is still due is
 * delivered by the workflow.
 */
async function report(
  dependencies: ActivityDependencies,
  { input: { threadId, storeId }, loop, commitStatus, reportToParent }: Loop,
  { reportDue, ...rest }: CommitStatusOutcome,
): Promise<StoredRest> {
  const due = { rest: { ...rest, reportDue } };
  const delivered = await reportToParent(dependencies, { threadId, storeId }).catch(() => undefined);
  if (!delivered) return due;
  if (!delivered.ends) return { rest };
  const ordinal = loop.restOrdinal + 1;
  const end = {
    threadId,
    storeId,
    ordinal,
    status: 'terminated',
    reason: ENDED_BY_REPORT,
    rejections: [],
  } as const;
  const ended = await commitStatus(dependencies, end).catch(() => undefined);
  return ended ? { rest, threadEnd: ended } : due;
}

const leaveToWorkflow = () => ({ kind: 'unknown' }) as const;

/** How many steps of this activity have begun, by an earlier attempt. */
function countBegun({ store }: ActivityDependencies, { input, loop }: Loop): Promise<number> {
  return store.steps.countBegun({ ...fromRun(store, input), from: input.ordinal, upTo: loop.steps });
}

/** True if something may follow here that the workflow has not asked for. An effect that is due comes before it. */
async function mayGoOn(
  dependencies: ActivityDependencies,
  { history }: Loop,
  { effectsInMs = Number.POSITIVE_INFINITY, calls }: StoredStep & EffectsDue,
): Promise<boolean> {
  const { leaving, lone, load, settings } = dependencies;
  if (effectsInMs <= 0 || lone || leaving.aborted || abortSignal().aborted || load?.isCrowded) return false;
  const { scheduledTimestampMs } = Context.current().info;
  if (Date.now() - scheduledTimestampMs > settings.secondsPerActivity * 1000) return false;
  // A call that took long is no longer short.
  return calls.every((call) => runsInside(dependencies, call)) && history.isQuiet();
}
