/**
 * The models of a router with an OpenAI-compatible API. Neither Node nor the environment is needed here: it runs in
 * Workers.
 * - Fetched models are cached for a minute, by address and headers. Only the value is cached, never a pending
 *   request, because the requests that a Worker serves must not share one.
 * - A failure is never cached, and no expired value replaces what cannot be fetched.
 */
import { errorMessage } from '../../../core/value/thrown.ts';
import { BackendTransportError, ValidationError } from '../failure.ts';
import { excerptOf, readBody } from '../wire/body-text.ts';

export interface RouterModel {
  readonly id: string;
  readonly name?: string;
  readonly provider?: string;
  readonly _provider?: string;
  readonly [field: string]: unknown;
}

export interface RouterEnv {
  readonly TANGLE_ROUTER_URL?: string | undefined;
  readonly TANGLE_ROUTER_BASE_URL?: string | undefined;
}

export type FetchModels = (input: string, init: RequestInit) => Promise<Response>;

export interface GetModelsOptions {
  readonly fetch?: FetchModels;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Milliseconds until the request fails; 10,000 unless given. */
  readonly timeoutMs?: number;
  /** Milliseconds that a response is cached; 60,000 unless given; 0: always fetch. */
  readonly maxAgeMs?: number;
}

export const DEFAULT_ROUTER_BASE_URL = 'https://router.tangle.tools';

const MAX_AGE_MS = 60_000;
const TIMEOUT_MS = 10_000;
const CATALOGUE_BYTES = 16 * 1024 * 1024;
/** Greatest number of entries in a cache; the oldest is dropped first. */
const MAX_CACHED = 100;

/**
 * Returns the base URL of a router, without `/v1` and slashes at its end: `TANGLE_ROUTER_URL`, else
 * `TANGLE_ROUTER_BASE_URL`, else the built-in one. Throws `ValidationError` for an invalid URL.
 * @example
 * ```ts
 * const base = resolveRouterBaseUrl({ TANGLE_ROUTER_URL: 'http://127.0.0.1:8000/v1/' }); // http://127.0.0.1:8000
 * ```
 */
export function resolveRouterBaseUrl(env: RouterEnv = {}): string {
  const given = env.TANGLE_ROUTER_URL ?? env.TANGLE_ROUTER_BASE_URL;
  return toBase(given ?? DEFAULT_ROUTER_BASE_URL);
}

interface CachedModels {
  readonly at: number;
  readonly models: readonly RouterModel[];
}

const SHARED_CACHE = new Map<string, CachedModels>();
const CACHES = new WeakMap<FetchModels, Map<string, CachedModels>>();

/**
 * Returns the models that a router lists at `/v1/models`; none if the response has no list. Throws
 * `BackendTransportError` (`BackendFailed`) with the HTTP status, 0 if there was no response, and `ValidationError` for
 * an invalid URL.
 * @example
 * ```ts
 * const models = await getModels('http://127.0.0.1:8000');
 * console.log(models.map(({ id }) => id));
 * ```
 */
export async function getModels(
  baseUrl: string,
  options: GetModelsOptions = {},
): Promise<readonly RouterModel[]> {
  const { maxAgeMs = MAX_AGE_MS, fetch: given, headers = {} } = options;
  const base = toBase(baseUrl);
  const kept = given ? cacheOf(given) : SHARED_CACHE;
  // With other headers, the router may list other models.
  const key = JSON.stringify([base, Object.entries(headers).toSorted()]);
  const found = kept.get(key);
  if (found && Date.now() - found.at < maxAgeMs) return found.models;
  const models = await fetchModels(base, options);
  kept.delete(key);
  kept.set(key, { at: Date.now(), models });
  const [oldest] = kept.keys();
  if (kept.size > MAX_CACHED && oldest !== undefined) kept.delete(oldest);
  return models;
}

function cacheOf(fetchModels: FetchModels): Map<string, CachedModels> {
  const kept = CACHES.get(fetchModels) ?? new Map<string, CachedModels>();
  CACHES.set(fetchModels, kept);
  return kept;
}

async function fetchModels(
  base: string,
  { fetch: given, headers, signal, timeoutMs = TIMEOUT_MS }: GetModelsOptions,
): Promise<readonly RouterModel[]> {
  const url = `${base}/v1/models`;
  const ask: FetchModels = given ?? ((input, init) => fetch(input, init));
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const answer = async () => {
    const response = await ask(url, { headers: { accept: 'application/json', ...headers }, signal: either });
    if (!response.ok) throw responseError(url, response.status, await excerptOf(response));
    const { text, cut } = await readBody(response, CATALOGUE_BYTES);
    if (cut) throw responseError(url, response.status, 'its list of models is too long');
    return readModels(JSON.parse(text));
  };
  try {
    return await answer();
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof BackendTransportError) throw error;
    const why = timeout.aborted ? `no response was received within ${timeoutMs} ms` : errorMessage(error);
    throw new BackendTransportError(
      `The models of ${url} could not be read: ${why}.`,
      { backend: 'catalogue', status: 0 },
      { cause: error },
    );
  }
}

function responseError(url: string, status: number, body: string): BackendTransportError {
  return new BackendTransportError(`${url} answered ${status}${body === '' ? '' : `: ${body}`}.`, {
    backend: 'catalogue',
    status,
    body,
  });
}

function readModels(answer: unknown): readonly RouterModel[] {
  const data = typeof answer === 'object' && answer !== null && 'data' in answer ? answer.data : undefined;
  if (!Array.isArray(data)) return [];
  return data.filter((each): each is RouterModel => typeof each?.id === 'string');
}

/** Throws `ValidationError` for an invalid URL. */
function toBase(url: string): string {
  const base = url.trim().replace(/\/+$/, '').replace(/\/v1$/, '').replace(/\/+$/, '');
  if (/^https?:\/\/[^/]/.test(base)) return base;
  throw new ValidationError(
    `"${url.slice(0, 200)}" is not a valid router address: it must begin with https:// or http://.`,
  );
}
