/**
 * Runs a call of a prompt (definitions §12.6): its model step, then its calls one after another like any other calls,
 * then its result. If the prompt has immediate subagents, their calls come before the model step (runtime §7.3). After
 * a lost worker or run everything is found in the store: the step by the call, its calls by the step.
 */
import type { CallRef, SubpromptOutcome, ToolCallOutcome } from '../core/thread/step.ts';
import type { AskedSoFar } from '../core/thread/waiting-call.ts';
import { awaitBlocked } from './blocked.ts';
import type { CallPlace } from './bound-activities.ts';
import { callAt } from './step-call.ts';
import type { ThreadRun } from './thread-run.ts';
import { awaitAnswer } from './wait-call.ts';

type SubpromptStep = Extract<SubpromptOutcome, { kind: 'step' }>;

/** Runs a call. Passed as a function because a call of a sub-prompt may be another sub-prompt. */
export type RunCall = (run: ThreadRun, call: CallRef, place: CallPlace) => Promise<ToolCallOutcome>;

export async function runSubprompt(
  run: ThreadRun,
  call: CallRef,
  place: CallPlace,
  runCall: RunCall,
): Promise<ToolCallOutcome> {
  let [queued, looks] = [0, 0];
  let before: AskedSoFar | undefined;
  const withQueued = (outcome: ToolCallOutcome): ToolCallOutcome =>
    outcome.kind === 'done' ? { ...outcome, queued: outcome.queued + queued } : outcome;
  const runInner = (step: SubpromptStep, index: number) => {
    const inner = callAt(step, index);
    run.presence.showActivity(`running ${inner.name} of ${call.name} (${index + 1} of ${step.callCount})`);
    return runCall(run, inner, { ...place, step: step.step, index });
  };
  for (;;) {
    // Forget earlier signals: only those from here on concern what this attempt asks.
    run.waits.listen();
    const { signalCount } = run.budget;
    const asked = await run.activities.askSubprompt(call, before ? { ...place, asked: before } : place);
    if (asked.kind === 'terminated') return asked;
    if (asked.kind === 'blocked') {
      before = asked.held?.asked;
      await awaitBlocked(run, asked, { look: looks++, signalCount });
      continue;
    }
    if (asked.kind === 'waits') {
      await awaitAnswer(run, asked);
      continue;
    }
    if (asked.kind === 'settled') return withQueued(asked.outcome);
    for (let index = 0; index < asked.callCount; index++) {
      const result = asked.ran?.[index] ?? (await runInner(asked, index));
      if (result.kind === 'terminated' || result.kind === 'exceeded') return result;
      if (result.kind === 'done') queued += result.queued;
    }
    // `again`: those were the calls of immediate subagents; the prompt's model step comes next.
    if (!asked.again) return withQueued(await run.activities.finishSubprompt(call, place));
  }
}
