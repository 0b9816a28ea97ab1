/**
 * Stages for an execution whose last answer has a type (core/answer/typed-answer.ts): that of its message, else of the agent's side.
 * What is checked is what would be stored, after the hooks on the answer; the stored content is the JSON of the schema's own
 * result, with its defaults.
 */
import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { end, go } from '../../author/policy/gate.ts';
import { type Checked, checkSchema } from '../../author/tool/check-schema.ts';
import { checkInterpreted } from '../../author/tool/interpreted-schema.ts';
import { isAnyObject } from '../../core/answer/output-schema.ts';
import {
  askAgain,
  describeSchema,
  findJson,
  isFinal,
  isLastRepeat,
  type RejectedAnswer,
  toRejected,
} from '../../core/answer/typed-answer.ts';
import type { AuthorSchema } from '../../core/author/author-schema.ts';
import { type ActiveSide, hasTwoSides } from '../../core/project/active-side.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import { cutMiddle } from '../../core/value/cut-middle.ts';
import type { JsonSchema } from '../../core/value/json-schema.ts';
import { toJsonObject } from '../../core/value/json-value.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import type { StepPlace } from '../../store/step/step-place-record.ts';
import { takeTools } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import { findModels } from '../model/request.ts';
import { parametersOf } from '../model/subagent-tools.ts';
import { type History, type RequestMaterial, toArgumentsMessage } from './assemble.ts';
import type { AnsweredStep, CheckedAnswer, HookedAnswer } from './commit-answer.ts';

type TypedPlace = Pick<StepPlace, 'subprompt' | 'answerType'>;

interface AnswerType {
  readonly schema: JsonSchema;
  readonly check: (value: unknown) => Promise<Checked<unknown>>;
}

/**
 * The type of a step's last answer: a called prompt has its own, and that of two AI sides is what their session tools say. Who asks
 * for any object gets the one that the side has.
 */
function typeOf(
  { agent, side, prompt }: ActiveSide,
  { subprompt, answerType }: TypedPlace,
): AnswerType | undefined {
  if (subprompt) return prompt.output && ofAuthor(prompt.output);
  if (answerType && !hasTwoSides(agent) && !(side.output && isAnyObject(answerType)))
    return { schema: answerType, check: (value) => checkInterpreted(answerType, value) };
  return side.output && ofAuthor(side.output);
}

function ofAuthor(type: AuthorSchema): AnswerType {
  return { schema: parametersOf(type), check: (value) => checkSchema(type, value) };
}

export function outputSchema(active: ActiveSide, context: TypedPlace): JsonSchema | undefined {
  return typeOf(active, context)?.schema;
}

/** Stage: says what the answer must be, if one of the models cannot be bound to a schema. */
export function describeOutput(
  { registry }: Pick<ActivityDependencies, 'registry'>,
  { context, active, system }: RequestMaterial & { readonly system: string },
) {
  const schema = outputSchema(active, context);
  if (!schema) return go({ system });
  const isBound = findModels(registry(), active).every(
    ({ capabilities }) => capabilities.supportsJsonMode !== false,
  );
  if (isBound) return go({ system });
  return go({ system: [system, describeSchema(schema)].filter((text) => text !== '').join('\n\n') });
}

/** Stage: shows the model the answer that was rejected, and why, behind all messages. */
export function showRejected(_ports: unknown, { context, active, history }: RequestMaterial & History) {
  const { rejected } = context;
  if (!rejected || !typeOf(active, context)) return go({ history });
  const asked = toArgumentsMessage(history, context.subprompt);
  return go({ history: [...history, ...asked, ...askAgain(rejected)] });
}

/** Stage: checks the answer, if it may be the last one. */
export async function checkOutput(
  { probe }: Pick<ActivityDependencies, 'probe'>,
  { answer, message, active, context }: AnsweredStep & HookedAnswer,
) {
  const type = typeOf(active, context);
  if (!type || answer.ends) return go<CheckedAnswer>({});
  const calls = answer.toolCalls.map((call) => call.function.name);
  if (!isFinal(calls, context.subprompt ? CALLED : active.side)) return go<CheckedAnswer>({});
  const content = message ? message.content : answer.content;
  const checked = answer.finishReason === 'length' ? CUT_OFF : await checkContent(type, content);
  await probe?.('output_checked');
  if (checked.ok) return go<CheckedAnswer>({ typed: checked.value });
  return go<CheckedAnswer>({ rejected: toRejected(content, checked.problems, context.rejected?.count) });
}

/** A called prompt has one answer: it is the last, unless it calls tools, whose results then belong to it. */
const CALLED = { stopOnResponse: true } as const;

const CUT_OFF = { ok: false, problems: 'it was cut off: it is longer than the model may write' } as const;

async function checkContent(type: AnswerType, content: string | null): Promise<Checked<string>> {
  const found = findJson(content);
  if (!found) return { ok: false, problems: content ? 'it is not JSON' : 'it is empty' };
  const checked = await type.check(found.value);
  if (!checked.ok) return checked;
  try {
    const value = toJsonObject(checked.value, { name: 'output', maxBytes: LIMITS.contentBytes });
    // Readers of the stream keep what they have, if it says the same.
    const isSame = content !== null && found.isWhole && canonicalJson(found.value) === canonicalJson(value);
    return { ok: true, value: isSame ? content : JSON.stringify(value) };
  } catch (error) {
    return { ok: false, problems: errorMessage(error) };
  }
}

/** Stage: stores that an answer was rejected, which ends the step; the next one asks for the answer again. */
export async function rejectAnswer(
  { store, probe, handover }: ActivityDependencies,
  { ref, answer, rejected, flow, hooks, sink }: AnsweredStep & HookedAnswer & CheckedAnswer,
) {
  if (!rejected) return go({});
  const { model, finishReason, usage, call } = answer;
  const error = isLastRepeat(rejected) ? toError(rejected) : undefined;
  const queuedTools = await takeTools({ hooks, sink });
  const { context } = await flow();
  const command = { ...ref, model, finishReason, usage, call, context, queuedTools, rejected, error };
  await probe?.('output_rejected');
  const stored = await retryWhileUnavailable(abortSignal(handover), () => store.steps.reject(command));
  await probe?.('output_rejection_stored');
  if (error && stored.kind === 'closed') return end({ kind: 'failed', error } as const);
  return end(stored);
}

/** Characters of an error's problems: six bytes each at worst as JSON, within what may pass through Temporal. */
const MAX_ERROR_CHARS = 500;

function toError({ problems, count }: RejectedAnswer) {
  const last = cutMiddle(problems, MAX_ERROR_CHARS);
  const message = `None of ${count} answers fits the type of the output. The last one: ${last}`;
  return { code: 'OutputInvalid', message };
}
