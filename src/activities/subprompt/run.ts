/**
 * `runSubprompt`: a call whose name is a prompt, up to the answer of its model (definitions §12.6). Like `modelStep`: begin,
 * decide in one transaction, answer, store; its tools are other activities, and `finishSubprompt` makes its result.
 * U1. Every attempt is the same one to the store: the call is begun once and its step opened once, whoever comes again. So a
 *     lost worker costs another request to the model at most, and never an unknown outcome.
 */
import { LIMITS } from '../../core/limit.ts';
import type { SubpromptOutcome, ToolCallInput, ToolCallOutcome } from '../../core/step.ts';
import { createIds } from '../../state/id.ts';
import type { StepRecord } from '../../store/port/thread-store.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError } from '../base/guard.ts';
import { answer } from '../model/answer.ts';
import { refuseUnlisted } from '../tool/listed-call.ts';
import { type Checked, checkPromptArguments, findEntry, readFirstMessage } from '../tool/prompt-input.ts';
import { beginCall, type ResumableCall, settleCall } from '../tool/resumable-call.ts';
import { toStepCalls } from '../tool/tool-dispatch.ts';
import { finishSubprompt } from './finish.ts';
import { openStep, type PromptCall } from './open.ts';

export async function runSubprompt(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
): Promise<SubpromptOutcome> {
  const { handover, probe } = dependencies;
  if (handover.aborted) throw abortError(handover);
  await probe?.('subprompt_not_begun');
  // U1.
  const begun = await beginCall(dependencies, input, 'subprompt');
  if (begun.kind === 'over') return toOutcome(begun.outcome);
  await probe?.('subprompt_begun');
  const { call } = begun;
  const checked = await checkCall(dependencies, call);
  if (!checked.ok) {
    const result = { status: 'error', error: checked.error } as const;
    return toOutcome(await settleCall(dependencies, call, { result }));
  }
  const opened = await openStep(dependencies, call, checked.value);
  await probe?.('subprompt_opened');
  switch (opened.kind) {
    case 'terminated':
      return opened;
    case 'over':
      return toOutcome(await finishSubprompt(dependencies, input));
    case 'stored':
      return describe(dependencies, input, opened.record);
    case 'call': {
      const { threadId, runId } = call.key;
      const { step, attempt } = opened;
      const answered = await answer(dependencies, { threadId, runId, step, attempt });
      if (answered.kind === 'terminated') return answered;
      if (answered.kind === 'stored') return describe(dependencies, input, answered.record);
      return toOutcome(await finishSubprompt(dependencies, input));
    }
  }
}

/** A step without calls is over with its answer. */
async function describe(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
  { step, calls }: StepRecord,
): Promise<SubpromptOutcome> {
  if (calls.length === 0) return toOutcome(await finishSubprompt(dependencies, input));
  return { kind: 'step', step, ...toStepCalls(dependencies.registry(), calls) };
}

function toOutcome(outcome: ToolCallOutcome): SubpromptOutcome {
  return outcome.kind === 'terminated' ? outcome : { kind: 'settled', outcome };
}

async function checkCall(
  { registry, store }: ActivityDependencies,
  { key, begun }: ResumableCall,
): Promise<Checked<PromptCall>> {
  const { call, subprompt } = begun;
  const prompt = registry().prompts.get(call.name);
  if (!prompt) return refuse(`Tool not found: ${call.name}`);
  const entry = findEntry(registry(), begun);
  const refusal = refuseUnlisted(call, entry);
  if (refusal !== undefined) return refuse(refusal);
  if ((subprompt?.depth ?? 0) >= LIMITS.subpromptDepth) {
    return refuse(`Prompts may call one another ${LIMITS.subpromptDepth} deep, and no deeper.`);
  }
  const args = checkPromptArguments(prompt.requiredSchema, call.arguments);
  if (!args.ok) return args;
  const { threadId, step, index } = key;
  const nextId = createIds(store, `${threadId}:${step}:${index}:first`);
  const message = await readFirstMessage({ store, threadId, nextId }, entry, args.value);
  if (!message.ok) return message;
  return { ok: true, value: { prompt, args: args.value, message: message.value } };
}

function refuse(error: string): Checked<never> {
  return { ok: false, error };
}
