/**
 * `runSubprompt`: a call that names a prompt, up to the answer of its model (definitions §12.6). Like `modelStep`, it
 * begins, decides in one transaction, answers, and stores; its calls follow like those of a step, and `finishSubprompt`
 * makes its result.
 * U1. All attempts are the same to the store: the call is begun once, and its step opened once. So a lost worker costs
 *     at most another request to the model, and never an unknown outcome.
 * U2. Immediate subagents of the prompt come before its model step (runtime §7.3). Their calls are answered first; once
 *     they have their results, this activity is run again.
 */

import type {
  AttemptOutcome,
  FinishCallInput,
  StoredError,
  SubpromptAttempt,
  ToolCallInput,
  ToolCallOutcome,
} from '../../core/thread/step.ts';
import { isUsedUp } from '../../core/thread/step-limit.ts';
import { composeSubpromptResult, toSwitches } from '../../core/thread/subprompt-result.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { StepRecord } from '../../store/step/step-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { hasLeft, throwIfLeaving } from '../base/guard.ts';
import { answerStep } from '../model-gate/model-gate.ts';
import { toAttemptOutcome, toDenied } from '../tool/record-tool-outcome.ts';
import {
  beginAsked,
  beginCall,
  infoOf,
  keepExistingFiles,
  openGuard,
  type ResumableCall,
  settleCall,
} from '../tool/resumable-call.ts';
import { toStepCalls } from '../tool/tool-dispatch.ts';
import type { CallAnswer } from '../tool-gate/call-info.ts';
import { findEntry } from '../tool-gate/resolve-call.ts';
import { PROMPT } from '../tool-gate/tool-gate.ts';
import { openImmediate, openStep } from './open.ts';

export async function runSubprompt(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
): Promise<SubpromptAttempt> {
  const { probe } = dependencies;
  throwIfLeaving(dependencies);
  // U1: every attempt is the same.
  const begun = await beginAsked(dependencies, input, 'subprompt');
  if (begun.kind === 'over') return toOutcome(begun.outcome);
  await probe?.('subprompt_begun');
  const { call } = begun;
  const passed = await PROMPT.pass(dependencies, {
    execution: infoOf(call),
    executionId: call.executionId,
    guard: openGuard(dependencies, call),
  });
  if (passed.kind === 'end') {
    const { end } = passed;
    if (end.kind === 'not_begun') return toOutcome(toAttemptOutcome(end.begun));
    if (end.kind === 'waits') return end;
    return toOutcome(await settleCall(dependencies, call, end));
  }
  const before = await openImmediate(dependencies, call, passed.known);
  if (before.kind === 'terminated') return before;
  if (before.kind === 'stored') return { ...toStep(dependencies, before.record), again: true };
  const opened = await openStep(dependencies, call, { ...passed.known, left: hasLeft(input.asked) });
  await probe?.('subprompt_opened');
  switch (opened.kind) {
    case 'terminated':
      return opened;
    case 'over':
      return toOutcome(await finishSubprompt(dependencies, input));
    case 'exceeded':
      return toOutcome(toDenied({ name: call.begun.call.name, error: opened.error }));
    case 'stored':
      return describe(dependencies, input, opened.record);
    case 'call': {
      const { threadId, runId } = call.key;
      const { step, attempt } = opened;
      const { asked } = input;
      const ref = { threadId, runId, step, attempt };
      const answered = await answerStep(dependencies, { ref, ...(asked && { asked }) });
      if (answered.kind === 'terminated' || answered.kind === 'blocked') return answered;
      const error =
        answered.kind === 'stored'
          ? answered.record.exceeded
          : answered.kind === 'failed' && isUsedUp(answered)
            ? answered.error
            : undefined;
      if (error) return toOutcome(toDenied({ name: call.begun.call.name, error }));
      if (answered.kind === 'stored') return describe(dependencies, input, answered.record);
      return toOutcome(await finishSubprompt(dependencies, input));
    }
  }
}

/** A step without calls is over with its answer. */
async function describe(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
  record: StepRecord,
): Promise<SubpromptAttempt> {
  if (record.calls.length === 0) return toOutcome(await finishSubprompt(dependencies, input));
  return toStep(dependencies, record);
}

function toStep({ registry }: ActivityDependencies, { step, calls }: StepRecord) {
  return { kind: 'step', step, ...toStepCalls(registry(), calls) } as const;
}

function toOutcome(outcome: AttemptOutcome): SubpromptAttempt {
  return outcome.kind === 'terminated' || outcome.kind === 'waits' ? outcome : { kind: 'settled', outcome };
}

/**
 * `finishSubprompt`: composes the result of a call of a prompt from its stored step (definitions §12.6), and stores it
 * like that of any call, through the hooks around it. Repeatable: a call that has a result keeps it.
 */
export async function finishSubprompt(
  dependencies: ActivityDependencies,
  input: FinishCallInput,
): Promise<ToolCallOutcome> {
  const { probe } = dependencies;
  await probe?.('subprompt_answered');
  const begun = await beginCall(dependencies, input, 'subprompt');
  if (begun.kind === 'over') return begun.outcome;
  const outcome = await settleCall(
    dependencies,
    begun.call,
    await composeResult(dependencies, begun.call, input.error),
  );
  await probe?.('subprompt_finished');
  return outcome;
}

const NOT_ASKED: StoredError = { code: 'Fault', message: 'the prompt could not be run' };

/** `fault`: why the step could not be run; it is more precise than the error of a step that was left open. */
async function composeResult(
  { store, registry }: ActivityDependencies,
  { key, begun }: ResumableCall,
  fault?: StoredError,
): Promise<CallAnswer> {
  const switches = toSwitches(findEntry(registry(), begun)?.extra);
  const stored = await store.subprompts.read(key.threadId, key.step, key.index);
  const { text = null, error = NOT_ASKED, calls = [], attachments = [], directive } = stored ?? {};
  const result = composeSubpromptResult({ text, error: error && (fault ?? error), calls }, switches);
  const present = await keepExistingFiles(store, key.threadId, attachments);
  const files = present.slice(0, LIMITS.attachments);
  return { result: files.length > 0 ? { ...result, attachments: files } : result, directive };
}
