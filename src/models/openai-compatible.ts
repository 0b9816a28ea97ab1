/**
 * Backend for every server that speaks OpenAI's chat completions: OpenAI, routers, vLLM, Ollama, llama.cpp and others.
 *
 * I1. The SDK never retries: attempts are decided, counted and stored in `call-model.ts`.
 * I2. Settings are read when the provider is made, so that a definition can be loaded without a key.
 * I3. An abort is thrown as the signal's own reason; every other failure is a ProviderError.
 * I4. The SDK, hundreds of files, is loaded with the first request: every project's start loads this one.
 * I5. Where no server of models seems to be at its address, the failure says that.
 */
import type OpenAI from 'openai';
import {
  type Provider,
  ProviderError,
  type ProviderFactory,
  type ProviderRequest,
  type ProviderStreamChunk,
} from '../core/message/provider.ts';
import type { ProviderFactoryConfig } from '../core/message/provider-terms.ts';
import { boundedFetch, type Fetch } from './bounded-fetch.ts';
import { classifyError } from './classify.ts';
import { type Dialect, toChatBody } from './openai-request.ts';
import { fromCompletion, fromCompletionChunks } from './openai-response.ts';
import { NO_SLOTS } from './provider-config.ts';
import { listCredentials } from './redact.ts';

export interface OpenaiCompatibleOptions {
  /** Up to and including the version, as in `http://127.0.0.1:8000/v1`. Default: OPENAI_BASE_URL, else OpenAI. */
  readonly baseUrl?: string;
  /** Default: OPENAI_API_KEY. A self-hosted server may need none. */
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds until the answer, or for a streamed one until its beginning. Default: ten minutes. */
  readonly timeoutMs?: number;
}

/**
 * A provider factory for `defineModel`. Options given here override the factory's config, which overrides the
 * environment. The factory throws ProviderError 'auth_error' when neither a key nor a base URL is known.
 * @example
 * ```ts
 * export default defineModel({
 *   name: 'local',
 *   provider: openaiCompatible({ baseUrl: 'http://127.0.0.1:8000/v1' }),
 *   model: 'qwen3-8b',
 * });
 * ```
 */
export function openaiCompatible(options: OpenaiCompatibleOptions = {}): ProviderFactory {
  const create = (config: ProviderFactoryConfig) => createProvider(readSettings(options, config));
  return Object.assign(create, { configSlots: NO_SLOTS });
}

const OPENAI_URL = 'https://api.openai.com/v1';

interface Settings {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number | undefined;
}

function readSettings(options: OpenaiCompatibleOptions, config: ProviderFactoryConfig): Settings {
  const baseUrl = options.baseUrl || config.baseUrl || process.env.OPENAI_BASE_URL || undefined;
  const apiKey = options.apiKey || config.apiKey || process.env.OPENAI_API_KEY || undefined;
  if (apiKey === undefined && baseUrl === undefined) {
    throw new ProviderError(
      'No API key for OpenAI: set OPENAI_API_KEY, or for a server that needs none set OPENAI_BASE_URL.',
      'auth_error',
    );
  }
  return {
    baseUrl: baseUrl ?? OPENAI_URL,
    apiKey,
    headers: options.headers ?? {},
    timeoutMs: options.timeoutMs ?? config.timeout,
  };
}

function createProvider(settings: Settings): Provider {
  const dialect = dialectOf(settings.baseUrl);
  const secrets = listCredentials(settings);
  let client: Promise<OpenAI> | undefined;

  function findClient(): Promise<OpenAI> {
    client ??= createClient(settings);
    return client;
  }

  function toFailure(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason;
    return withPlace(classifyError(error, { now: Date.now(), secrets }), settings.baseUrl);
  }

  async function generate(request: ProviderRequest) {
    const { signal } = request;
    try {
      const body = { ...toChatBody(request, dialect), stream: false as const };
      return fromCompletion(await (await findClient()).chat.completions.create(body, { signal }));
    } catch (error) {
      throw toFailure(error, signal);
    }
  }

  async function stream(request: ProviderRequest): Promise<AsyncIterable<ProviderStreamChunk>> {
    const { signal } = request;
    const body = {
      ...toChatBody(request, dialect),
      stream: true as const,
      stream_options: { include_usage: true },
    };
    try {
      const chunks = await (await findClient()).chat.completions.create(body, { signal });
      return guarded(fromCompletionChunks(chunks), (error) => toFailure(error, signal));
    } catch (error) {
      throw toFailure(error, signal);
    }
  }

  return { name: 'openai-compatible', specificationVersion: '1', generate, stream };
}

const UNREACHED = /ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|connection error|fetch failed/i;

/** I5: what such a failure says is mended by who sees where it was asked: a server that is away, a key of another one, a page in place of an API. */
function withPlace(failure: ProviderError, baseUrl: string): ProviderError {
  const { message, code, statusCode, retryAfter, cause } = failure;
  const url = URL.parse(baseUrl);
  const isElsewhere =
    (statusCode === undefined && UNREACHED.test(message)) ||
    (statusCode !== undefined && [401, 403, 404].includes(statusCode)) ||
    code === 'InvalidAnswer' ||
    message === PAGE;
  // Without what may be in it of a user and a password.
  const place = url && `${url.origin}${url.pathname}`;
  if (!isElsewhere || !place || message.includes(place)) return failure;
  return new ProviderError(`${message} (asked at ${place})`, code, statusCode, retryAfter, { cause });
}

async function createClient({ baseUrl, apiKey, headers, timeoutMs }: Settings): Promise<OpenAI> {
  // I4: loaded by whoever asks a model.
  const { OpenAI } = await import('openai');
  return new OpenAI({
    // The SDK insists on a key; without one the header is removed again.
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    baseURL: baseUrl,
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    defaultHeaders: { ...(apiKey === undefined ? { authorization: null } : {}), ...headers },
    maxRetries: 0,
    // It would write what a provider has sent to the worker's standard error, secrets included.
    logLevel: 'off',
    fetch: apiFetch,
  });
}

const PAGE = 'A page of HTML came in place of an answer: is this the address of an API?';

/** I5: read as an answer, a page for people would look like one that was cut off. It may be that of something in between, and is asked again. */
const apiFetch: Fetch = async (input, init) => {
  const response = await boundedFetch(input, init);
  const { ok, status, headers, body } = response;
  if (!ok || !/^text\/html\b/i.test(headers.get('content-type') ?? '')) return response;
  await body?.cancel();
  // Whoever reads it fails: a stream has begun then, and may be asked for as a whole.
  const page = new ReadableStream({
    start: (reader) => reader.error(new ProviderError(PAGE, 'server_error')),
  });
  return new Response(page, { status, headers });
};

function dialectOf(baseUrl: string): Dialect {
  const host = URL.parse(baseUrl)?.hostname ?? '';
  return host === 'openai.com' || host.endsWith('.openai.com') ? 'openai' : 'compatible';
}

/** The SDK ends an aborted stream silently, which looks like a cut; both become the error of `toFailure`. */
async function* guarded<T>(
  chunks: AsyncIterable<T>,
  toFailure: (error: unknown) => unknown,
): AsyncGenerator<T> {
  try {
    yield* chunks;
  } catch (error) {
    throw toFailure(error);
  }
}
