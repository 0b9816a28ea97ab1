/** The address of an API, and one request to it with the meaning of its response. Nothing here needs Node. */
import { ERRORS, type ErrorCode, RuntimeError } from '../../core/value/error.ts';

export interface HttpConnectOptions {
  /** Address of the API, including any path that it is served below: `https://agents.example.com`. */
  readonly url: string;
  /** Token as printed by `everthread tokens create`; absent if the API requires none. */
  readonly token?: string;
  /**
   * Milliseconds that a server may be unreachable before a call or a reading rejects with `ServerUnavailable`; 30,000
   * unless given.
   */
  readonly patienceMs?: number;
  /**
   * Milliseconds without any data after which a new reading counts as buffered by a proxy in between; 10,000 unless
   * given.
   */
  readonly openWithinMs?: number;
  /** Used instead of the platform's `fetch`. */
  readonly fetch?: typeof fetch;
}

export interface HttpConnection {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly patienceMs: number;
  readonly openWithinMs: number;
  readonly fetch: typeof fetch;
  /** Aborts when the client is closed. */
  readonly closed: AbortSignal;
}

export interface HttpRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below the address of the API; ids in it are encoded (`pathOf`). */
  readonly path: string;
  readonly query?: object | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, instead of `body`. */
  readonly bytes?: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The outcome of the request is unknown: the connection broke, or a proxy responded instead of the API. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** Throws `InvalidConfiguration` for an invalid address. */
export function toHttpConnection(
  { url, token, patienceMs = 30_000, openWithinMs = 10_000, fetch: given }: HttpConnectOptions,
  closed: AbortSignal,
): HttpConnection {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new RuntimeError(
      'InvalidConfiguration',
      `"${url}" is not the address of an API: use one like https://agents.example.com.`,
    );
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  // The platform's `fetch` must be called as a plain function.
  const ask: typeof fetch = given ?? ((input, init) => fetch(input, init));
  return { url: url.replace(/\/+$/, ''), headers, patienceMs, openWithinMs, fetch: ask, closed };
}

export function pathOf(parts: TemplateStringsArray, ...ids: readonly string[]): string {
  return String.raw({ raw: parts }, ...ids.map(encodeURIComponent));
}

/**
 * Returns a response with status 2xx. Throws the error that the API reports, `NoAnswer` if the outcome of the request
 * is unknown, and the reason of the signal.
 */
export async function requestOnce(
  place: HttpConnection,
  { method = 'GET', path, query = {}, body, bytes, headers = {} }: HttpRequest,
  signal: AbortSignal,
): Promise<Response> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const asked = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await awaitResponse(
    place.fetch(`${place.url}${path}${given.length === 0 ? '' : `?${asked}`}`, {
      method,
      headers: { ...place.headers, ...json, ...headers },
      body: bytes ?? (body === undefined ? null : JSON.stringify(body)),
      signal,
      // Platforms require it if the body is a stream.
      ...(bytes && 'getReader' in bytes ? { duplex: 'half' } : {}),
    } as RequestInit),
    signal,
  );
  if (response.ok) return response;
  throw toError(place, response, await awaitResponse(response.text(), signal));
}

/** Turns the error of a broken connection into `NoAnswer`. */
export async function awaitResponse<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    signal.throwIfAborted();
    throw new NoAnswer('The connection was lost.', { cause });
  }
}

function toError(place: HttpConnection, { status, headers }: Response, text: string): Error {
  const problem = headers.get('content-type')?.includes('problem+json') ? readProblem(text) : null;
  if (problem === null) {
    // A proxy in between responds for an API that is unreachable. An error without a word was cut within its headers.
    if (status >= 500 || status === 429 || status === 408 || text === '')
      return new NoAnswer(`The server answered with status ${status}.`);
    return new RuntimeError(
      'InvalidConfiguration',
      `${place.url} answered ${status}, but not as an Everthread API does: check the address.`,
    );
  }
  const { code, detail } = problem;
  if (Object.hasOwn(ERRORS, code)) return new RuntimeError(code as ErrorCode, detail);
  return new Error(`The API at ${place.url} failed (${code}): ${detail}`);
}

function readProblem(text: string): { readonly code: string; readonly detail: string } | null {
  try {
    const { code, detail } = JSON.parse(text) as Record<string, unknown>;
    return typeof code === 'string' && typeof detail === 'string' ? { code, detail } : null;
  } catch {
    return null;
  }
}
