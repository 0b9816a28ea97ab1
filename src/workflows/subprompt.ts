/**
 * A call of a prompt (definitions §12.6): its model step, then its calls one after another, each as any call, then its result.
 * Whatever is lost on the way is found again in the store: the step by the call, its calls by the step.
 */
import { isCancellation } from '@temporalio/workflow';
import type { CallRef, Settings, SubpromptOutcome, ToolCallInput, ToolCallOutcome } from '../core/step.ts';
import { showActivity } from './presence.ts';
import { callFinish, callSubprompt } from './proxies.ts';
import { callAt, toStoredError } from './step-call.ts';
import type { ThreadRun } from './thread-run.ts';

/** How a call is run; a call of a sub-prompt may be another sub-prompt. */
export type RunCall = (run: ThreadRun, call: CallRef, input: ToolCallInput) => Promise<ToolCallOutcome>;

export async function runSubprompt(
  run: ThreadRun,
  call: CallRef,
  input: ToolCallInput,
  runCall: RunCall,
): Promise<ToolCallOutcome> {
  const asked = await ask(run, call, input);
  run.effects.hear(asked);
  if (asked.kind === 'terminated') return asked;
  if (asked.kind === 'settled') return asked.outcome;
  let queued = 0;
  for (let index = 0; index < asked.callCount; index++) {
    const inner = callAt(asked, index);
    showActivity(run, `running ${inner.name} of ${call.name} (${index + 1} of ${asked.callCount})`);
    const result = await runCall(run, inner, { ...input, step: asked.step, index });
    run.effects.hear(result);
    if (result.kind === 'terminated') return result;
    if (result.kind === 'done') queued += result.queued;
  }
  const outcome = await callFinish(
    'finishSubprompt',
    run.settings as Settings,
    input,
    `result of ${call.name}`,
  );
  run.effects.hear(outcome);
  return outcome.kind === 'done' ? { ...outcome, queued: outcome.queued + queued } : outcome;
}

async function ask(run: ThreadRun, call: CallRef, input: ToolCallInput): Promise<SubpromptOutcome> {
  const settings = run.settings as Settings;
  try {
    return await callSubprompt(settings, input, `${call.name} · step ${input.step}`);
  } catch (error) {
    if (isCancellation(error) || (error as Error).name !== 'ActivityFailure') throw error;
    // A fault that came back again and again: the prompt has done nothing that its calls' own records do not tell.
    const failed = { ...input, error: toStoredError(error) };
    const outcome = await callFinish('finishSubprompt', settings, failed, `what became of ${call.name}`);
    return outcome.kind === 'terminated' ? outcome : { kind: 'settled', outcome };
  }
}
