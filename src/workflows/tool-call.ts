/**
 * Runs one tool call, at most once unless the tool is idempotent (runtime §5: its outcome is recorded).
 * After a lost worker the store decides: not begun, dispatch again; begun, outcome unknown; done, as stored.
 * A call that waits for an answer is dispatched again once there is one. A call whose work continues elsewhere is
 * dispatched again after a pause (wait-call.ts).
 */
import { isCancellation, sleep } from '@temporalio/workflow';
import { endOfGroup, runBeside } from '../core/thread/call-group.ts';
import type {
  AskedSoFar,
  CallRef,
  StepCalls,
  SubpromptAttempt,
  ToolAttempt,
  ToolCallOutcome,
} from '../core/thread/step.ts';
import { type CallPlace, isFailedActivity, toStoredError, toSummary } from './activities.ts';
import { runChildCall } from './child-call.ts';
import type { ThreadRun } from './thread-run.ts';
import { awaitAnswer, awaitBlocked, pauseCall, Suspended } from './wait-call.ts';

/** Runs a call. The alarm receives only its final outcome (effect-alarm.ts, A5). */
export function runToolCall(run: ThreadRun, call: CallRef, place: CallPlace): Promise<ToolCallOutcome> {
  return run.effects.receiveFrom(runByMode(run, call, place));
}

async function runByMode(run: ThreadRun, call: CallRef, place: CallPlace): Promise<ToolCallOutcome> {
  if (call.mode === 'prompt') return runSubprompt(run, call, place, runToolCall);
  if (call.mode === 'child') return runChildCall(run, call, place);
  for (let redispatches = 0; ; redispatches++) {
    // Only signals from here on concern what this attempt asks.
    const since = run.waits.listen();
    try {
      const outcome = await dispatch(run, call, place);
      if (outcome.kind !== 'waits' && outcome.kind !== 'later') return outcome;
      if (outcome.kind === 'later') await pauseCall(run, outcome);
      else await awaitAnswer(run, outcome, since);
      redispatches = -1;
      continue;
    } catch (error) {
      if (isCancellation(error) || error instanceof Suspended) throw error;
    }
    const recorded = await run.activities.recordToolOutcome(place, `what became of ${call.name}`, ATTEMPT);
    if (recorded.kind === 'waits') {
      await awaitAnswer(run, recorded, since);
      redispatches = -1;
      continue;
    }
    if (recorded.kind !== 'redispatch') return recorded;
    // The first time a worker was lost before the body began. Repeated, it is a fault: pause.
    if (redispatches > 0)
      await sleep(Math.min(30_000, 200 * 2 ** redispatches), { summary: `before ${call.name}, again` });
  }
}

const ATTEMPT = { isAttempt: true } as const;

/** Additional time for the hooks after a tool: several may take their whole 30 seconds. */
const HOOKS_MS = 5 * 60_000;

async function dispatch(run: ThreadRun, call: CallRef, place: CallPlace): Promise<ToolAttempt> {
  const summary = toSummary(call, place);
  // The activity itself ends and reports a body at timeoutMs; this timeout, which includes hooks, is only a fallback.
  const options = { startToCloseTimeout: call.timeoutMs + HOOKS_MS, ...toRetry(call) };
  const activity = call.mode === 'code' ? 'runCode' : 'runTool';
  return run.activities[activity](place, summary, { ...ATTEMPT, options });
}

function toRetry({ mode }: CallRef) {
  return mode === 'once' ? { retry: { maximumAttempts: 1 } } : {};
}

/** Runs a call. Passed as a function because a call of a sub-prompt may be another sub-prompt. */
type RunCall = (run: ThreadRun, call: CallRef, place: CallPlace) => Promise<ToolCallOutcome>;

/**
 * Runs a call of a prompt (definitions §12.6): its model step, then its calls one after another like any other calls,
 * then its result. If the prompt has immediate subagents, their calls come before the model step (runtime §7.3). After
 * a lost worker or run everything is found in the store: the step by the call, its calls by the step.
 */
async function runSubprompt(
  run: ThreadRun,
  call: CallRef,
  place: CallPlace,
  runCall: RunCall,
): Promise<ToolCallOutcome> {
  let [queued, looks] = [0, 0];
  let before: AskedSoFar | undefined;
  const withQueued = (outcome: ToolCallOutcome): ToolCallOutcome =>
    outcome.kind === 'done' ? { ...outcome, queued: outcome.queued + queued } : outcome;
  const runInner = (step: StepCalls & { readonly step: number }, index: number) => {
    const inner = callAt(step, index);
    run.presence.showActivity(`running ${inner.name} of ${call.name} (${index + 1} of ${step.callCount})`);
    return runCall(run, inner, { ...place, step: step.step, index });
  };
  for (;;) {
    // Only signals from here on concern what this attempt asks.
    const since = run.waits.listen();
    const { signalCount } = run.budget;
    const asked = await askPrompt(run, call, { ...place, asked: before });
    if (asked.kind === 'terminated') return asked;
    if (asked.kind === 'blocked') {
      before = asked.held?.asked;
      await awaitBlocked(run, asked, { look: looks++, signalCount, since });
      continue;
    }
    if (asked.kind === 'waits') {
      await awaitAnswer(run, asked, since);
      continue;
    }
    if (asked.kind === 'settled') return withQueued(asked.outcome);
    const ran = [...(asked.ran ?? [])];
    for (let index = 0; index < asked.callCount; index++) {
      const result = await outcomeAt(run, asked, { ran, index }, runInner);
      if (result.kind === 'terminated' || result.kind === 'exceeded') return result;
      if (result.kind === 'done') queued += result.queued;
    }
    // `again`: those were the calls of immediate subagents; the prompt's model step comes next.
    if (!asked.again)
      return withQueued(await run.activities.finishSubprompt(place, `result of ${call.name}`));
  }
}

/** A fault that persists through all retries becomes the call's result. */
async function askPrompt(run: ThreadRun, call: CallRef, place: CallPlace): Promise<SubpromptAttempt> {
  try {
    return await run.activities.runSubprompt(place, toSummary(call, place));
  } catch (error) {
    if (!isFailedActivity(error)) throw error;
    // Everything that the prompt has done is in the records of its calls.
    const input = { ...place, error: toStoredError(error) };
    const outcome = await run.activities.finishSubprompt(input, `what became of ${call.name}`);
    return outcome.kind === 'terminated' ? outcome : { kind: 'settled', outcome };
  }
}

interface AskedCall {
  /** The outcomes so far, which grow. */
  readonly ran: ToolCallOutcome[];
  readonly index: number;
}

type RunAt<Step> = (step: Step, index: number) => Promise<ToolCallOutcome>;

/** The outcome of the call at `index`. Runs it if it has not run, with those that may be under way together with it. */
export async function outcomeAt<Step extends StepCalls>(
  run: ThreadRun,
  step: Step,
  { ran, index }: AskedCall,
  runAt: RunAt<Step>,
): Promise<ToolCallOutcome> {
  if (ran.length === index) {
    const isGroup = endOfGroup(step.calls, index) > index + 1;
    ran.push(...(isGroup ? await runGroup(run, step, index, runAt) : [await runAt(step, index)]));
  }
  return ran[index] as ToolCallOutcome;
}

/**
 * Runs the calls of a group beside each other. Returns their outcomes in order, up to one after which no other began. If one is
 * left without an outcome, so is the step, once none is under way.
 */
async function runGroup<Step extends StepCalls>(
  run: ThreadRun,
  step: Step,
  from: number,
  runAt: RunAt<Step>,
): Promise<readonly ToolCallOutcome[]> {
  const { floor } = run;
  const runOne = async (index: number) => {
    while (!floor.takeBack()) await floor.awaitEffects();
    const outcome = await runAt(step, index);
    floor.lend();
    return outcome;
  };
  const ends = ({ kind }: ToolCallOutcome) => kind === 'terminated' || kind === 'exceeded';
  const group = runBeside({ from, to: endOfGroup(step.calls, from) }, runOne, ends);
  // The step itself only waits; F2 holds for each of the calls.
  floor.lend();
  const outcomes = await group;
  while (!floor.takeBack()) await floor.awaitEffects();
  return outcomes;
}

/** The outcome names only the first calls; an unnamed call is dispatched in the most cautious way. */
const UNNAMED_TOOL: CallRef = { name: 'a tool', mode: 'once', timeoutMs: 30 * 60_000 };
const UNNAMED_CHILD: CallRef = { name: 'a subagent', mode: 'child', timeoutMs: 1000 };
const UNNAMED_PROMPT: CallRef = { name: 'a prompt', mode: 'prompt', timeoutMs: 1000 };

/** How a call of a step is dispatched. */
export function callAt({ calls, laterPrompts = [], laterChildren = [] }: StepCalls, index: number): CallRef {
  const named = calls[index];
  if (named) return named;
  if (laterChildren.includes(index)) return UNNAMED_CHILD;
  return laterPrompts.includes(index) ? UNNAMED_PROMPT : UNNAMED_TOOL;
}
