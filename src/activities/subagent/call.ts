/**
 * `callSubagent`: a call of a subagent, up to a child that is to be started or has received a message (runtime §7,
 * §8.1, definitions §13.3, §13.4). `finishSubagent` makes the call's result.
 * S1. All attempts are the same to the store: the child or the message of a call is found by the call, and made once.
 * S2. A problem with the call becomes its result, which says what to do instead.
 */

import { SUBAGENT_MESSAGE } from '../../core/project/subagent.ts';
import type { AttemptOutcome, SubagentAttempt, ToolCallInput } from '../../core/thread/step.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import type { ChildCall } from '../../store/family/family-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { toAttemptOutcome } from '../tool/record-tool-outcome.ts';
import { beginAsked, type ResumableCall, settleCall } from '../tool/resumable-call.ts';
import { finishSubagent, readWaitsBelow } from './finish.ts';
import { runChildCreatedHooks, type UnmadeChild } from './make.ts';
import { wakeChild } from './send-to-child.ts';
import { passSubagentGate } from './subagent-gate.ts';

export async function callSubagent(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
): Promise<SubagentAttempt> {
  const { store, probe } = dependencies;
  const begun = await beginAsked(dependencies, input, 'subagent');
  if (begun.kind === 'over') return toOutcome(begun.outcome);
  await probe?.('subagent_begun');
  const { call } = begun;
  // S1: every attempt is the same.
  const known = await store.children.readCall(call.key.threadId, {
    step: call.key.step,
    index: call.key.index,
  });
  if (known) return resume(dependencies, input, call, known);
  const made = await passSubagentGate(dependencies, call).catch(toAnswered);
  if (made.kind === 'not_begun') return toOutcome(toAttemptOutcome(made.begun));
  if (made.kind !== 'answered') return made;
  // S2: a fault is its result.
  return toOutcome(await settleCall(dependencies, call, made));
}

/** An earlier attempt has made the child, or sent it the message, and its result may not have reached the workflow. */
async function resume(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
  call: ResumableCall,
  { start, started, waits, report }: ChildCall,
): Promise<SubagentAttempt> {
  if (report) {
    const finished = await finishSubagent(dependencies, input);
    if (finished.kind !== 'waiting') return toOutcome(finished);
  }
  if (call.begun.call.name === SUBAGENT_MESSAGE) await wakeChild(dependencies, start.threadId);
  else if (!started) await runChildCreatedHooks(dependencies, call, start.threadId);
  const below = waits ? await readWaitsBelow(dependencies.store, call.key.threadId) : {};
  return { kind: 'child', child: start, start: !started, wait: waits, ...below };
}

/** S2: variables that this worker cannot read, or that cannot be stored. No child was made. */
function toAnswered(error: unknown): UnmadeChild {
  if (isRuntimeError(error, 'InvalidConfiguration') || isRuntimeError(error, 'InvalidVariable')) {
    const result = { status: 'error', error: `The subagent was not called: ${error.message}` } as const;
    return { kind: 'answered', result };
  }
  throw error;
}

function toOutcome(outcome: AttemptOutcome): SubagentAttempt {
  return outcome.kind === 'terminated' || outcome.kind === 'waits' ? outcome : { kind: 'settled', outcome };
}
