/**
 * A backend as the provider of a model: an agent with that model answers through the backend, and its turns work
 * like those of any agent. If a worker is lost, the same request is made again with the same id: a box then attaches to
 * the execution that it has begun, and begins no second one.
 */
import {
  type Provider,
  ProviderError,
  type ProviderFactory,
  type ProviderRequest,
  type ProviderStreamChunk,
  type ProviderUsage,
} from '../../../core/message/provider.ts';
import { sumUsd } from '../../../core/value/money.ts';
import { errorMessage, readField } from '../../../core/value/thrown.ts';
import { BackendTransportError } from '../failure.ts';
import type { AgentExecutionBackend, BackendEvent, BackendInput } from './backend.ts';
import { isTransient } from './retry.ts';
import { promptId } from './sandbox-prompt.ts';

/**
 * Returns a value for `provider` of `defineModel`. The thread keeps the text, the reasoning and the usage of the
 * backend, but not what the backend does itself (calls of tools, files).
 * @example
 * ```ts
 * const backend = createIterableBackend(({ message = '' }) => ['You said: ', message]);
 * export default defineModel({ name: 'echo', provider: backendProvider(backend), model: 'echo' });
 * ```
 */
export function backendProvider(backend: AgentExecutionBackend): ProviderFactory {
  const provider: Provider = {
    name: backend.kind,
    specificationVersion: '1',
    getModelCapabilities: async () => ({ supportsToolCalls: false }),
    stream: async (request) => toChunks(backend, request),
    async generate(request) {
      let content = '';
      let end: Extract<ProviderStreamChunk, { type: 'finish' }> | undefined;
      for await (const chunk of toChunks(backend, request)) {
        if (chunk.type === 'content-delta') content += chunk.delta;
        if (chunk.type === 'finish') end = chunk;
      }
      return { content, finishReason: end?.finishReason ?? 'stop', usage: end?.usage ?? NO_USAGE };
    },
  };
  return Object.assign(() => provider, { configSlots: {} });
}

const NO_USAGE: ProviderUsage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };

async function* toChunks(
  backend: AgentExecutionBackend,
  request: ProviderRequest,
): AsyncGenerator<ProviderStreamChunk> {
  const { signal, user = '', model } = request;
  const input = toInput(request);
  const turnId = promptId(user, [model, input.messages]);
  let usage = NO_USAGE;
  try {
    const session = await backend.start?.(input, { signal, turnId });
    for await (const event of backend.stream(input, { signal, turnId, session })) {
      if (event.type === 'text_discarded')
        throw new ProviderError(`The backend restarted its answer: ${event.reason}`, 'server_error');
      usage = addUsage(usage, event);
      if (event.type === 'text_delta') yield { type: 'content-delta', delta: event.text };
      if (event.type === 'reasoning_delta') yield { type: 'reasoning-delta', delta: event.text };
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw toFailure(error);
  }
  yield { type: 'finish', finishReason: 'stop', usage };
}

function toInput({ messages, user = '' }: ProviderRequest): BackendInput {
  const sent = messages.map(({ role, content }) => ({ role, content: textOf(content) }));
  return { task: { id: user, intent: 'answer' }, messages: sent };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return String(readField(content, 'text') ?? readField(content, 'error') ?? '');
  return content.map((part) => String(readField(part, 'text') ?? '')).join('');
}

function addUsage(usage: ProviderUsage, event: BackendEvent): ProviderUsage {
  if (event.type !== 'llm_call') return usage;
  const { tokensIn = 0, tokensOut = 0, costUsd } = event;
  const cost = costUsd === undefined ? usage.cost : sumUsd([usage.cost ?? 0, costUsd]);
  return {
    promptTokens: usage.promptTokens + tokensIn,
    completionTokens: usage.completionTokens + tokensOut,
    totalTokens: usage.totalTokens + tokensIn + tokensOut,
    ...(cost === undefined ? {} : { cost }),
  };
}

/** Converts an error for the caller, which decides whether to retry: the backend has already retried itself. */
function toFailure(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const message = errorMessage(error);
  if (!(error instanceof BackendTransportError))
    return new ProviderError(message, 'invalid_request', undefined, undefined, { cause: error });
  const { status } = error;
  const isKey = status === 401 || status === 402 || status === 403;
  const code = isTransient(error) ? 'server_error' : isKey ? 'auth_error' : 'invalid_request';
  return new ProviderError(message, code, status || undefined, undefined, { cause: error });
}
