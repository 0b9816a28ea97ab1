/**
 * A backend for any server that speaks OpenAI's chat completions.
 * - A fallback is asked only if the model before it failed temporarily and nothing of its answer was emitted. Only
 *   models that the caller has named are asked, and each hop is an event.
 */
import { LIMITS } from '../../../core/value/limit.ts';
import { BackendTransportError, ConfigError } from '../failure.ts';
import { type AgentExecutionBackend, type BackendContext, type BackendInput, promptOf } from './backend.ts';
import { completionEvents } from './completion-events.ts';
import { askBackend, type BackendFetch, isTransient, type RetryOptions } from './retry.ts';

export interface OpenAICompatibleBackendOptions {
  /** URL up to and including the version, as in `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
  /** Name of the backend in errors and events; `openai-compatible` unless given. */
  readonly kind?: string;
  readonly tools?: readonly object[];
  readonly toolChoice?: unknown;
  readonly responseFormat?: unknown;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly fetchImpl?: BackendFetch;
  readonly retry?: RetryOptions;
  readonly policy?: {
    /** Models to ask in this order, each if the one before it has failed temporarily. None unless given. */
    readonly fallbackModels?: readonly string[];
  };
}

/**
 * Throws `ConfigError` (`InvalidConfiguration`) if a required field is blank. The stream throws `BackendTransportError`
 * (`BackendFailed`), which lists each model that was tried, or the reason of the signal.
 * @example
 * ```ts
 * const backend = createOpenAICompatibleBackend({
 *   baseUrl: 'http://127.0.0.1:8000/v1',
 *   apiKey: 'key',
 *   model: 'openai/gpt-4.1',
 *   policy: { fallbackModels: ['openai/gpt-4.1-mini'] },
 * });
 * for await (const event of backend.stream({ task: { id: 't', intent: 'answer' }, message: 'hello' })) console.log(event);
 * ```
 */
export function createOpenAICompatibleBackend(
  options: OpenAICompatibleBackendOptions,
): AgentExecutionBackend {
  const { kind = 'openai-compatible', model, policy } = options;
  for (const field of ['baseUrl', 'apiKey', 'model'] as const)
    if (typeof options[field] !== 'string' || options[field].trim() === '')
      throw new ConfigError(`The backend "${kind}" has no ${field}: pass one.`);
  const models = [model, ...(policy?.fallbackModels ?? [])];
  return {
    kind,
    repeatable: true,
    async *stream(input, context = {}) {
      const failures: BackendTransportError[] = [];
      for (const [n, each] of models.entries()) {
        let emitted = false;
        try {
          for await (const event of streamOnce(options, kind, each, input, context)) {
            emitted = true;
            yield event;
          }
          return;
        } catch (error) {
          const toModel = models[n + 1];
          if (!(error instanceof BackendTransportError)) throw error;
          failures.push(error);
          // No fallback after output, after a permanent failure, or behind the last model.
          if (emitted || !isTransient(error) || toModel === undefined)
            throw combineFailures(models, failures);
          yield { type: 'model_fallback', fromModel: each, toModel, reason: error.message };
        }
      }
    },
  };
}

async function* streamOnce(
  options: OpenAICompatibleBackendOptions,
  kind: string,
  model: string,
  input: BackendInput,
  { signal, turnId, propagatedHeaders }: BackendContext,
) {
  const { baseUrl, apiKey, retry = {}, fetchImpl = (url, init) => fetch(url, init) } = options;
  const startedAt = performance.now();
  const response = await askBackend({
    backend: kind,
    url: `${baseUrl.trim().replace(/\/+$/, '')}/chat/completions`,
    init: {
      method: 'POST',
      headers: {
        ...propagatedHeaders,
        'content-type': 'application/json',
        authorization: `Bearer ${apiKey}`,
        ...(turnId === undefined ? {} : { 'idempotency-key': turnId }),
      },
      body: JSON.stringify(toBody(options, model, input)),
    },
    fetch: fetchImpl,
    retry,
    signal,
  });
  yield* completionEvents(eventData(response, kind, signal), { model, backend: kind, startedAt });
}

/** Options that are not set are not sent. */
function toBody(options: OpenAICompatibleBackendOptions, model: string, input: BackendInput): object {
  const { tools = [], toolChoice, responseFormat, temperature, maxTokens } = options;
  const given = (name: string, value: unknown) => (value === undefined ? {} : { [name]: value });
  return {
    model,
    messages: input.messages ?? [{ role: 'user', content: promptOf(input) }],
    stream: true,
    stream_options: { include_usage: true },
    ...(tools.length === 0 ? {} : { tools, ...given('tool_choice', toolChoice) }),
    ...given('response_format', responseFormat),
    ...given('temperature', temperature),
    ...given('max_tokens', maxTokens),
  };
}

/** Returns the last failure. If several models have failed, its message lists the failure of each. */
function combineFailures(
  models: readonly string[],
  failures: readonly BackendTransportError[],
): BackendTransportError {
  const last = failures.at(-1) as BackendTransportError;
  if (failures.length < 2) return last;
  const listed = failures.map(({ message }, n) => `${models[n]}: ${message}`).join('; ');
  return new BackendTransportError(`No model answered. ${listed}`, last, { cause: last });
}

/** Reads the data of server-sent events as they come, up to a bound: senders are not trusted to end a line. */

/** Yields data without comments and `[DONE]`. A line of JSON without `data:` is data, too, as in NDJSON. */
async function* eventData(response: Response, backend: string, signal?: AbortSignal): AsyncGenerator<string> {
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  let rest = '';
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        signal?.throwIfAborted();
        throw new BackendTransportError('The answer was interrupted.', { backend, status: 0 }, { cause });
      });
      bytes += value?.length ?? 0;
      const lines = (rest + decoder.decode(value, { stream: !done })).split(/\r\n|\n|\r/);
      rest = done ? '' : (lines.pop() ?? '');
      for (const line of lines) {
        const data = dataOf(line);
        if (data !== null) yield data;
      }
      if (done) return;
      if (bytes > LIMITS.answerStreamBytes || rest.length > LIMITS.answerEventBytes)
        throw new BackendTransportError('The answer is too long.', { backend, status: response.status });
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function dataOf(line: string): string | null {
  const text = line.startsWith('data:') ? line.slice('data:'.length).trim() : line.trim();
  if (text === '' || text === '[DONE]') return null;
  return line.startsWith('data:') || text.startsWith('{') ? text : null;
}
