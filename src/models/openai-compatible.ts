/**
 * Backend for every server that speaks OpenAI's chat completions: OpenAI, routers, vLLM, Ollama, llama.cpp and others.
 *
 * - The SDK never retries: attempts are decided, counted and stored in `call-model.ts`.
 * - Settings are read when the provider is made, so that a definition can be loaded without a key.
 * - An abort is thrown as the signal's own reason; every other failure is a ProviderError.
 * - The SDK, hundreds of files, is loaded with the first request: this file is loaded at every project's start.
 * - If the address does not seem to be that of a model server, the error message contains the address.
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
import { toRateScope } from './admission.ts';
import { invalidAnswer } from './answer-failure.ts';
import { boundedFetch, type Fetch } from './bounded-fetch.ts';
import { classifyError } from './classify.ts';
import { type Dialect, toChatBody } from './openai-request.ts';
import { fromCompletion, fromCompletionChunks } from './openai-response.ts';
import { NO_SLOTS } from './provider-config.ts';
import { listCredentials } from './redact.ts';
import { isDone } from './stream-end.ts';

export interface OpenaiCompatibleOptions {
  /** Up to and including the version, as in `http://127.0.0.1:8000/v1`. Default: OPENAI_BASE_URL, else OpenAI. */
  readonly baseUrl?: string;
  /** Default: OPENAI_API_KEY. A self-hosted server may need none. */
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds until the answer, or until a streamed one begins. Default: derived from the model's `timeouts`. */
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
  // The name is told with requests.
  const named = {
    openaiCompatible: (config: ProviderFactoryConfig) => createProvider(readSettings(options, config)),
  };
  const pricedAs = () => ({ apiUrl: options.baseUrl || process.env.OPENAI_BASE_URL || OPENAI_URL });
  return Object.assign(named.openaiCompatible, { configSlots: NO_SLOTS, pricedAs });
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
    return withAddress(classifyError(error, { now: Date.now(), secrets }), settings.baseUrl);
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
      const sent = (await findClient()).chat.completions.create(body, { signal });
      const { data: chunks, response } = await sent.withResponse();
      const answer = fromCompletionChunks(chunks, () => isDone(response));
      return convertErrors(answer, (error) => toFailure(error, signal));
    } catch (error) {
      throw toFailure(error, signal);
    }
  }

  const rateScope = toRateScope(settings.baseUrl, settings.apiKey);
  return { name: 'openai-compatible', specificationVersion: '1', rateScope, generate, stream };
}

const UNREACHABLE = /ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|connection error|fetch failed/i;

/** Adds the address to errors that a wrong one may cause: no server there, another server's key, an HTML page. */
function withAddress(failure: ProviderError, baseUrl: string): ProviderError {
  const { message, code, statusCode, retryAfter, cause } = failure;
  const url = URL.parse(baseUrl);
  const isElsewhere =
    (statusCode === undefined && UNREACHABLE.test(message)) ||
    (statusCode !== undefined && [401, 403, 404].includes(statusCode)) ||
    code === 'InvalidAnswer' ||
    message === PAGE;
  // Without a user and a password that the address may contain.
  const place = url && `${url.origin}${url.pathname}`;
  if (!isElsewhere || !place || message.includes(place)) return failure;
  return new ProviderError(`${message} (requested at ${place})`, code, statusCode, retryAfter, { cause });
}

async function createClient({ baseUrl, apiKey, headers, timeoutMs }: Settings): Promise<OpenAI> {
  // Loaded with the first request.
  const { OpenAI } = await import('openai');
  return new OpenAI({
    // The SDK insists on a key; without one the header is removed again.
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    baseURL: baseUrl,
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    defaultHeaders: { ...(apiKey === undefined ? { authorization: null } : {}), ...headers },
    maxRetries: 0,
    // The SDK would log responses of providers to the worker's standard error, secrets included.
    logLevel: 'off',
    fetch: apiFetch,
  });
}

const PAGE = 'An HTML page was received in place of an answer: is this the address of an API?';

/** An HTML page would be read as a truncated answer. It may come from a proxy, so the error is retryable. */
const apiFetch: Fetch = async (input, init) => {
  const response = await boundedFetch(input, init);
  const { ok, status, headers, body } = response;
  if (!ok || !/^text\/html\b/i.test(headers.get('content-type') ?? '')) return response;
  await body?.cancel();
  // Fails only when read: the stream then counts as opened, so a plain call may follow (attempt-plan.ts, P1).
  const page = new ReadableStream({
    start: (reader) => reader.error(new ProviderError(PAGE, 'server_error')),
  });
  return new Response(page, { status, headers });
};

function dialectOf(baseUrl: string): Dialect {
  const host = URL.parse(baseUrl)?.hostname ?? '';
  return host === 'openai.com' || host.endsWith('.openai.com') ? 'openai' : 'compatible';
}

/**
 * Converts errors of a stream with `toFailure`. The SDK ends an aborted stream silently, so it looks cut off:
 * `toFailure` turns that error into the signal's reason.
 */
async function* convertErrors<T>(
  chunks: AsyncIterable<T>,
  toFailure: (error: unknown) => unknown,
): AsyncGenerator<T> {
  try {
    yield* chunks;
  } catch (error) {
    throw toFailure(isUnreadable(error) ? invalidAnswer(UNREADABLE) : error);
  }
}

/** The SDK reads the choices of an event before they are checked here. */
function isUnreadable(error: unknown): boolean {
  return error instanceof TypeError && error.message.startsWith('Cannot read properties of');
}

const UNREADABLE = 'The server sent an event that is no part of an answer, such as null in place of a choice';
