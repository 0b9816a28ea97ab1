/**
 * Stage: asks the models in their order (runtime §3.3).
 */

import { end, go } from '../../author/policy/gate.ts';
import { readRedactor } from '../../author/state/env-place.ts';
import { storeWhole } from '../../author/tool/whole-result.ts';
import { describeSchema } from '../../core/answer/typed-answer.ts';
import type { ModelDefinition } from '../../core/author/definition.ts';
import type { ToolMessage } from '../../core/context/fit-messages.ts';
import type { MessageOrigins } from '../../core/context/message-origin.ts';
import { textsOf } from '../../core/context/message-text.ts';
import { findGuards } from '../../core/guard/guards.ts';
import type {
  ProviderMessage,
  ProviderRequest,
  ProviderResponse,
  ProviderTool,
} from '../../core/message/provider.ts';
import type { ToRequest } from '../../models/attempt.ts';
import { askApart } from '../../models/refused-format.ts';
import { withoutTools } from '../../models/refused-tool.ts';
import type { StepContext } from '../../store/step/step-place-record.ts';
import type { AnsweredCall } from '../../store/step/step-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { logsManifests } from '../model/call-estimate.ts';
import { ChunkWriter } from '../model/chunk-writer.ts';
import type { McpOffer } from '../model/mcp-offer.ts';
import { askRecorded, chainOf } from '../model/model-call-record.ts';
import { buildRequest, findModels } from '../model/request.ts';
import { createSizing } from '../model/request-sizing.ts';
import { readProviderVariables } from '../model/step-env.ts';
import type { SubagentOffer } from '../model/subagent-tools.ts';
import { emitEvent, NO_REQUEST_HOOKS, type RequestMaterial, type StepHooks } from './assemble.ts';
import { judgeRequests } from './judge-request.ts';
import type { OpenStep } from './read-step.ts';
import { outputSchema } from './typed-answer.ts';

export interface AssembledRequest extends Pick<OpenStep, 'ref' | 'called' | 'asked'>, RequestMaterial {
  readonly messages: readonly ProviderMessage[];
  readonly origins: MessageOrigins;
  readonly subagents: SubagentOffer;
  readonly mcp?: McpOffer;
  readonly hooks: Pick<StepHooks['hooks'], 'has'>;
  readonly env: Pick<StepHooks['env'], 'redactKnown'>;
  /** True if the history has been compacted in this step. */
  readonly hasCompacted: boolean;
}

export interface ModelResponse {
  readonly response: ProviderResponse;
  readonly model: ModelDefinition;
  /** The call that returned the response, if its end is to be stored with the answer. */
  readonly call?: AnsweredCall;
}

/**
 * Each attempt is a recorded request to one model, with time-outs; the next attempt is a retry or a fallback. The end
 * of the attempt that answers is stored with the answer, unless a hook or image files come first, which may take time.
 */
export async function askModels(
  ports: ActivityDependencies,
  {
    ref,
    called,
    asked,
    context,
    active,
    messages,
    origins,
    subagents,
    mcp,
    hooks,
    env,
    hasCompacted,
    request: requestHooks,
  }: AssembledRequest,
) {
  const registry = ports.registry();
  const { thread, runContext } = context;
  const redact = async (text: string) => (await readRedactor(ports, thread))(text);
  const permissions = runContext?.permissions;
  const output = outputSchema(active, context);
  const step = { threadId: thread.id, messages, subagents, mcp, permissions, output };
  const compacts = !hasCompacted && Boolean(findGuards(active.agent, active.prompt).compaction);
  const hooked = hooks.has('before_create_message');
  const endsWithAnswer = ({ images = [] }: ProviderResponse) => !hooked && images.length === 0;
  const leftOut = learnRefusals(thread.id, context.executionId);
  const request: ToRequest = (model, tools) =>
    leftOut.apply(model, buildRequest(registry, active, { model, tools }, step), (asked) =>
      output
        ? askApart(asked, { words: describeSchema(output), isLast: context.rejected !== undefined })
        : asked,
    );
  const files = nameWholeResults(ports.store, thread.id);
  const sizing = createSizing(context.counts, files.nameOf);
  const prepare = async (model: ModelDefinition) => {
    if (!messages.some(mayBeCut)) return;
    const asked = request(model, {});
    if (listsFileTool(asked.tools)) await files.store(sizing.cutResults(model, asked));
  };
  const chunks = new ChunkWriter((piece) => ports.store.modelCalls.appendChunk({ ...ref, ...piece }));
  const result = await askRecorded(ports, ref, {
    redact,
    sizing,
    prepare,
    asked,
    request,
    endsWithAnswer,
    models: findModels(registry, active),
    from: {
      chain: chainOf(context, active),
      origins,
      stored: context.messages,
      ownPrompt: requestHooks.system === NO_REQUEST_HOOKS.system,
      redact: env.redactKnown,
    },
    work: `${thread.id}:${ref.step}`,
    recorded: called,
    logs: logsManifests(active, context) ? 'always' : 'bound',
    judge: judgeRequests(ports, ref, context, compacts),
    onRefusedTool: leftOut.tool,
    onRefusedFormat: output && leftOut.format,
    variables: () => readProviderVariables(ports, thread, active.prompt),
    streamed: () => chunks.finish(),
    hasStreamed: (attempt) => chunks.hasWritten(attempt),
    onWaiting: ({ attempt: call }, afterMs) =>
      chunks.inOrder(() => ports.store.modelCalls.emitWaiting({ ...ref, call, afterMs })),
    onChunk(chunk) {
      chunks.push(chunk);
      // Chunks are handed over synchronously, so the probe is not awaited.
      void ports.probe?.('model_streaming');
    },
  });
  if (!result.ok && 'unsent' in result) return end(result.unsent);
  await noteLeftOut(ports, context, {
    messages: sizing.dropped(),
    model: result.ok ? result.model.name : undefined,
  });
  if (!result.ok) {
    const calls = `${result.attempts} model ${result.attempts === 1 ? 'call' : 'calls'}`;
    const message = `${await redact(result.error.message)} (${calls})`;
    return end({ kind: 'failed', error: { code: result.error.code, message } });
  }
  await ports.probe?.('model_answered');
  return go({ response: result.response, model: result.model, call: result.call });
}

/** Logs that the request could not hold all messages, unless that was known when they were read. */
async function noteLeftOut(
  { store }: ActivityDependencies,
  { thread, step, trimmed }: StepContext,
  data: { readonly messages: number; readonly model: string | undefined },
): Promise<void> {
  if (data.messages === 0 || trimmed > 0) return;
  await emitEvent(store, thread.id, { type: 'context.trimmed', data, step, once: true });
}

/**
 * What a model of an execution has refused, in the memory of this worker: that is left out for the rest of the execution.
 * Another worker learns it from one refusal, which the log has as well.
 */
interface Refusals {
  readonly tools: Set<string>;
  /** True if it takes no tools beside a format of the answer. */
  format: boolean;
}

interface LearntRefusals {
  tool(model: ModelDefinition, name: string): void;
  format(model: ModelDefinition): void;
  /** `apart`: makes the part of a request with both that is sent. */
  apply(
    model: ModelDefinition,
    request: ProviderRequest,
    apart: (request: ProviderRequest) => ProviderRequest,
  ): ProviderRequest;
}

/** By execution and model; the oldest are forgotten. */
const learnt = new Map<string, Refusals>();
const MAX_KEPT = 1000;

function learnRefusals(threadId: string, executionId: string): LearntRefusals {
  const keyOf = ({ name }: ModelDefinition) => `${threadId} ${executionId} ${name}`;
  const note = (model: ModelDefinition): Refusals => {
    const key = keyOf(model);
    const refusals = learnt.get(key) ?? { tools: new Set(), format: false };
    learnt.delete(key);
    learnt.set(key, refusals);
    if (learnt.size > MAX_KEPT) learnt.delete(learnt.keys().next().value as string);
    return refusals;
  };
  return {
    tool(model, name) {
      note(model).tools.add(name);
    },
    format(model) {
      note(model).format = true;
    },
    apply(model, request, apart) {
      const refusals = learnt.get(keyOf(model));
      if (!refusals) return request;
      const left = withoutTools(request, refusals.tools);
      return refusals.format ? apart(left) : left;
    },
  };
}

/** A tool that reads files, by its name: `read_file`, `grepFiles`, `files.open`. */
const FILE_TOOL = /file/i;
const READING = /read|open|view|show|cat|get|load|search|find|grep/i;

function listsFileTool(tools: readonly ProviderTool[] = []): boolean {
  return tools.some(({ function: { name } }) => FILE_TOOL.test(name) && READING.test(name));
}

/** Characters below which no result is cut. */
const SHORT = 200;

function mayBeCut(message: ProviderMessage): boolean {
  return message.role === 'tool' && textsOf(message).some(({ length }) => length > SHORT);
}

interface WholeResults {
  /** The file of a result; undefined if it has none. */
  readonly nameOf: (result: ToolMessage) => string | undefined;
  readonly store: (results: readonly ToolMessage[]) => Promise<void>;
}

/**
 * Stores results whole that a request shows cut, where the agent lists a tool that can read them. If a file cannot be
 * stored, the request says that the rest cannot be read.
 */
function nameWholeResults(store: Pick<ThreadStore, 'files'>, threadId: string): WholeResults {
  const paths = new Map<string, string | undefined>();
  const keyOf = (result: ToolMessage) => `${result.toolCallId} ${textsOf(result).join('\n')}`;
  return {
    nameOf: (result) => (paths.size === 0 ? undefined : paths.get(keyOf(result))),
    async store(results) {
      for (const each of results)
        if (!paths.has(keyOf(each)))
          paths.set(
            keyOf(each),
            await storeWhole(store, threadId, each.toolCallId, textsOf(each).join('\n')),
          );
    },
  };
}
