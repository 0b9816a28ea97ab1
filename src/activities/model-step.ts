/**
 * `modelStep`: one step of the cycle up to the stored answer (runtime §3.1-3.4).
 * Drain and decide in one transaction; assemble; call the model, streaming; store the answer, its tool calls,
 * usage and events in one transaction. Tools are other activities.
 */
import type { ModelDefinition, Registry } from '../core/definition.ts';
import { LIMITS } from '../core/limit.ts';
import type { ToolCall } from '../core/message.ts';
import type { ProviderResponse } from '../core/provider.ts';
import type { ModelStepInput, ModelStepOutcome, StoredError } from '../core/step.ts';
import { callModel } from '../models/call-model.ts';
import type { StepContext, StepRecord, StepRef } from '../store/port.ts';
import { ChunkWriter } from './chunk-writer.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { abortError, abortSignal } from './guard.ts';
import { recordModelCalls } from './model-call-record.ts';
import {
  type ActiveSide,
  agentNotFound,
  buildRequest,
  findActiveSide,
  findModels,
  toStopRules,
} from './request.ts';
import { fromRun } from './run-ref.ts';
import { readStepEnv } from './step-env.ts';
import { readRedactor } from './thread-env.ts';
import { toCallRef } from './tool-dispatch.ts';

export async function modelStep(
  dependencies: ActivityDependencies,
  input: ModelStepInput,
): Promise<ModelStepOutcome> {
  const { store, handover } = dependencies;
  if (handover.aborted) throw abortError(handover);
  const run = fromRun(store, input);
  const { ordinal, executionId, afterStep, items, rejections } = input;
  const begun = await store.beginStep({ ...run, ordinal, executionId, afterStep, items, rejections });
  switch (begun.kind) {
    case 'terminated':
    case 'nothing_to_do':
    case 'failed':
      return begun;
    case 'stored':
      return describeStored(dependencies, run.threadId, begun.record, begun.swept);
    case 'call': {
      const { step, attempt, swept } = begun;
      return { ...(await answer(dependencies, { ...run, step, attempt })), swept } as ModelStepOutcome;
    }
  }
}

type Answer = ModelStepOutcome;

async function answer(dependencies: ActivityDependencies, ref: StepRef): Promise<Answer> {
  const { store } = dependencies;
  const registry = dependencies.registry();
  const context = await store.readContext(ref.threadId, ref.step);
  const active = findActiveSide(registry, context.thread.agent);
  if (!active) return fail(dependencies, ref, agentNotFound(context.thread.agent, ref.threadId));
  const env = await readStepEnv(dependencies, context.thread, { begun: hasBegun(context) });
  if (!env.ok) return fail(dependencies, ref, env.error);
  const models = findModels(registry, active);
  const redact = async (text: string) => (await readRedactor(dependencies, context.thread))(text);
  const result = await ask(dependencies, { ref, redact }, models, (model) =>
    buildRequest(registry, active, model, context, env.show),
  );
  if (!result.ok) {
    const message = `${await redact(result.error.message)} (${result.attempts} model ${result.attempts === 1 ? 'call' : 'calls'})`;
    return fail(dependencies, ref, { code: result.error.code, message });
  }
  await dependencies.probe?.('model_answered');
  const { response, model } = result;
  const committed = await store.commitStep({
    ...ref,
    content: finalContent(response, active),
    toolCalls: toToolCalls(response, ref.step),
    model: model.name,
    finishReason: response.finishReason,
    usage: response.usage,
  });
  await dependencies.probe?.('model_committed');
  if (committed.kind === 'terminated') return committed;
  if (committed.kind === 'closed') return { kind: 'nothing_to_do', step: ref.step, swept: 0 };
  return describe(registry, active, committed.record, 0);
}

/** Whether the execution has had an answer of a model; a queued tool's call is none. */
function hasBegun({ executionId, messages }: StepContext): boolean {
  return messages.some(
    (message) =>
      message.executionId === executionId &&
      message.role === 'assistant' &&
      message.metadata.queuedTool !== true,
  );
}

async function ask(
  { store, handover, probe }: ActivityDependencies,
  { ref, redact }: { ref: StepRef; redact: (text: string) => Promise<string> },
  models: ModelDefinition[],
  request: (model: ModelDefinition) => ReturnType<typeof buildRequest>,
) {
  const signal = abortSignal(handover);
  const chunks = new ChunkWriter((delta, call) => store.appendChunk({ ...ref, call, delta }));
  const record = recordModelCalls(store, ref, redact);
  try {
    return await callModel({
      models,
      request,
      signal,
      onAttempt: record.onAttempt,
      onAttemptEnd: async (end) => {
        // The text is in the log before the log says that it is complete.
        await chunks.finish();
        await record.onAttemptEnd(end);
      },
      onChunk: ({ attempt, kind, delta }) => {
        if (kind === 'content') chunks.push(delta, attempt);
        // Chunks are handed over synchronously; the probe's answer is nobody's to wait for.
        void probe?.('model_streaming');
      },
    });
  } catch (error) {
    if (signal.aborted) throw abortError(handover);
    throw error;
  } finally {
    await chunks.finish();
  }
}

async function fail({ store }: ActivityDependencies, ref: StepRef, error: StoredError): Promise<Answer> {
  const short = { code: error.code, message: error.message.slice(0, 1000) };
  const failed = await store.failStep({ ...ref, error: short });
  if (failed.kind === 'terminated') return failed;
  return { kind: 'failed', step: ref.step, error: short, swept: 0 };
}

/** The stop tool's argument may stand for the answer (definitions §7.1, stopToolResponseProperty). */
function finalContent(response: ProviderResponse, { side }: ActiveSide): string | null {
  const { stopTool, stopToolResponseProperty: property } = side;
  const call = stopTool && property ? response.toolCalls?.find(({ name }) => name === stopTool) : undefined;
  const value = call && property ? call.arguments[property] : undefined;
  return typeof value === 'string' ? value : response.content;
}

function toToolCalls(response: ProviderResponse, step: number): ToolCall[] {
  return (response.toolCalls ?? []).map(({ id, name, arguments: parsed, rawArguments }, index) => ({
    id: id || `call_${step}_${index}`,
    type: 'function',
    function: { name, arguments: rawArguments ?? JSON.stringify(parsed) },
  }));
}

async function describeStored(
  { registry, store }: ActivityDependencies,
  threadId: string,
  record: StepRecord,
  swept: number,
): Promise<ModelStepOutcome> {
  const project = registry();
  const thread = await store.getThread(threadId);
  return describe(project, thread ? findActiveSide(project, thread.agent) : undefined, record, swept);
}

function describe(
  project: Registry,
  active: ActiveSide | undefined,
  record: StepRecord,
  swept: number,
): ModelStepOutcome {
  return {
    kind: 'step',
    step: record.step,
    answered: record.kind === 'model',
    text: record.text,
    callCount: record.calls.length,
    calls: record.calls.slice(0, LIMITS.namedCalls).map((name) => toCallRef(project, name)),
    // An agent that vanished under a running thread must not leave it without rules.
    rules: active ? toStopRules(active) : { stopOnResponse: true },
    model: record.model ?? '',
    moreInput: record.moreInput,
    swept,
  };
}
