/**
 * The answer to a step that is open (runtime §3.2-3.4): assemble, ask the model, streaming, store what it said. A step of
 * the thread's own and one of a sub-prompt are answered alike; whose it is, the store tells with the context.
 */
import { type ActiveSide, findStepSide } from '../../core/active-side.ts';
import type { ToolCall } from '../../core/message.ts';
import type { ProviderResponse } from '../../core/provider.ts';
import type { StoredError } from '../../core/step.ts';
import { readRedactor } from '../../state/env-place.ts';
import { type HookBlocked, isHookBlocked } from '../../state/hooks/assembly-hooks.ts';
import { isHookAborted } from '../../state/hooks/chain.ts';
import type { Scratch } from '../../state/scratch.ts';
import type { StepContext, StepRecord, StepRef } from '../../store/port/step.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError } from '../base/guard.ts';
import { askModel } from './ask-model.ts';
import { assembleStep } from './assemble.ts';
import { historyWindow } from './history-window.ts';
import { readSubagentOffer } from './offered-tools.ts';
import { executedMetadata } from './provider-tools.ts';
import { agentNotFound, buildRequest, findModels } from './request.ts';
import { readStepEnv } from './step-env.ts';
import { openStepHooks, type StepHooks } from './step-hooks.ts';
import { storeAnswer } from './store-answer.ts';
import type { SubagentOffer } from './subagent-tools.ts';

export type Answered =
  | { readonly kind: 'stored'; readonly record: StepRecord }
  /** The step was stopped, or another attempt was first. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'failed'; readonly error: StoredError }
  | { readonly kind: 'terminated' };

/** `scratch`: of the hooks that have seen what the step drained. */
export async function answer(
  dependencies: ActivityDependencies,
  ref: StepRef,
  scratch?: Scratch,
): Promise<Answered> {
  const { store } = dependencies;
  const registry = dependencies.registry();
  const context = await store.readContext(ref.threadId, ref.step, historyWindow(registry));
  const active = findStepSide(registry, context.thread.agent, context);
  if (!active) return fail(dependencies, ref, agentNotFound(context.thread.agent, ref.threadId));
  const env = await readStepEnv(dependencies, context.thread, {
    begun: hasBegun(context),
    prompt: active.prompt,
  });
  if (!env.ok) return fail(dependencies, ref, env.error);
  const subagents = await readSubagentOffer(dependencies, context.thread, active.prompt);
  const hooks = openStepHooks(dependencies, { ref, context, active, scratch });
  try {
    return await answerThrough(dependencies, hooks, { ref, context, active, subagents, show: env.show });
  } catch (error) {
    if (isHookAborted(error)) throw abortError(dependencies.handover);
    throw error;
  } finally {
    hooks.close();
  }
}

interface OpenStep {
  readonly ref: StepRef;
  readonly context: StepContext;
  readonly active: ActiveSide;
  readonly subagents: SubagentOffer;
  /** What an `env` part of a prompt shows. */
  readonly show: (name: string) => string;
}

async function answerThrough(
  dependencies: ActivityDependencies,
  hooks: StepHooks,
  { ref, context, active, subagents, show }: OpenStep,
): Promise<Answered> {
  const registry = dependencies.registry();
  const assembled = await assembleStep(dependencies, {
    context,
    active,
    env: show,
    hooks: hooks.assembly,
  }).catch(toBlocked);
  const prompt = active.prompt.name;
  if ('hookId' in assembled) {
    // Redacted as a failure is: what it says was made of what the hook has seen.
    const { error: content = '' } = await hooks.env.redact({ status: 'error', error: assembled.message });
    return storeAnswer(dependencies, hooks, ref, {
      ...BLOCKED,
      content,
      prompt,
      metadata: { hookBlocked: assembled.hookId },
    });
  }
  const redact = async (text: string) => (await readRedactor(dependencies, context.thread))(text);
  const result = await askModel(dependencies, { ref, redact }, findModels(registry, active), (model) =>
    buildRequest(registry, active, model, { ...assembled, subagents }),
  );
  if (!result.ok) {
    const message = `${await redact(result.error.message)} (${result.attempts} model ${result.attempts === 1 ? 'call' : 'calls'})`;
    return fail(dependencies, ref, { code: result.error.code, message });
  }
  await dependencies.probe?.('model_answered');
  const { response, model } = result;
  return storeAnswer(dependencies, hooks, ref, {
    content: finalContent(response, active, context),
    toolCalls: toToolCalls(response, ref.step),
    model: model.name,
    finishReason: response.finishReason,
    usage: response.usage,
    prompt,
    reasoning: response.reasoning ?? undefined,
    metadata: executedMetadata(response),
  });
}

/** A hook refused the request: no model is asked, and what the hook said is the answer that ends the execution. */
const BLOCKED = {
  toolCalls: [],
  model: '',
  finishReason: 'hook_blocked',
  usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
  blocked: true,
} as const;

function toBlocked(error: unknown): HookBlocked {
  if (isHookBlocked(error)) return error;
  throw error;
}

/** Whether the execution has had an answer of a model, of either side; this step is counted. */
function hasBegun({ subprompt, stepCount }: StepContext): boolean {
  return subprompt !== null || stepCount > 1;
}

async function fail({ store }: ActivityDependencies, ref: StepRef, error: StoredError): Promise<Answered> {
  const short = { code: error.code, message: error.message.slice(0, 1000) };
  const failed = await store.failStep({ ...ref, error: short });
  if (failed.kind === 'terminated') return failed;
  return { kind: 'failed', error: short };
}

/** The stop tool's argument may stand for the answer (definitions §7.1, stopToolResponseProperty). */
function finalContent(
  response: ProviderResponse,
  { side }: ActiveSide,
  { subprompt }: StepContext,
): string | null {
  const { stopTool, stopToolResponseProperty: property } = side;
  if (subprompt || !stopTool || !property) return response.content;
  const call = response.toolCalls?.find(({ name }) => name === stopTool);
  const value = call?.arguments[property];
  return typeof value === 'string' ? value : response.content;
}

function toToolCalls(response: ProviderResponse, step: number): ToolCall[] {
  return (response.toolCalls ?? []).map(({ id, name, arguments: parsed, rawArguments }, index) => ({
    id: id || `call_${step}_${index}`,
    type: 'function',
    function: { name, arguments: rawArguments ?? JSON.stringify(parsed) },
  }));
}
