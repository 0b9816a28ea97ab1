/** Where an API is, and how it is asked: one request, and what its answer means. Nothing here needs Node. */
import { ERRORS, type ErrorCode, RuntimeError } from '../../core/value/error.ts';

export interface HttpConnectOptions {
  /** Of the API, with whatever path it is served below: `https://agents.example.com`. */
  readonly url: string;
  /** As `everthread tokens create` prints it; none where the API wants none. */
  readonly token?: string;
  /** Milliseconds that a server may be out of reach before a call, or a reading, rejects with `ServerUnavailable`; 30,000 unless given. */
  readonly patienceMs?: number;
  /** Milliseconds until a reading that tells nothing is taken to be held back by something between; 10,000 unless given. */
  readonly openWithinMs?: number;
  /** In place of the platform's. */
  readonly fetch?: typeof fetch;
}

export interface HttpPlace {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly patienceMs: number;
  readonly openWithinMs: number;
  readonly fetch: typeof fetch;
  /** The client is closed. */
  readonly closed: AbortSignal;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface HttpRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Behind the API's address; ids in it are encoded (`pathOf`). */
  readonly path: string;
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly bytes?: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Nobody knows whether it was done: the connection broke, or something between here and the API answered. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** Throws `InvalidConfiguration` for what is no address. */
export function toPlace(
  { url, token, patienceMs = 30_000, openWithinMs = 10_000, fetch: given }: HttpConnectOptions,
  closed: AbortSignal,
): HttpPlace {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new RuntimeError(
      'InvalidConfiguration',
      `"${url}" is no address of an API: write one like https://agents.example.com.`,
    );
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  // A platform's own wants to be called as such.
  const ask: typeof fetch = given ?? ((input, init) => fetch(input, init));
  return { url: url.replace(/\/+$/, ''), headers, patienceMs, openWithinMs, fetch: ask, closed };
}

export function pathOf(parts: TemplateStringsArray, ...ids: readonly string[]): string {
  return String.raw({ raw: parts }, ...ids.map(encodeURIComponent));
}

/**
 * An answer of 2xx. Throws what the API's problem says, `NoAnswer` where nobody knows what became of the request, and the signal's
 * reason.
 */
export async function askOnce(
  place: HttpPlace,
  { method = 'GET', path, query = {}, body, bytes, headers = {} }: HttpRequest,
  signal: AbortSignal,
): Promise<Response> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const asked = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await answerOf(
    place.fetch(`${place.url}${path}${given.length === 0 ? '' : `?${asked}`}`, {
      method,
      headers: { ...place.headers, ...json, ...headers },
      body: bytes ?? (body === undefined ? null : JSON.stringify(body)),
      signal,
      // A platform insists on it where the body is a stream.
      ...(bytes && 'getReader' in bytes ? { duplex: 'half' } : {}),
    } as RequestInit),
    signal,
  );
  if (response.ok) return response;
  throw toError(place, response, await answerOf(response.text(), signal));
}

/** Throws `NoAnswer` for what a broken connection throws. */
export async function answerOf<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    signal.throwIfAborted();
    throw new NoAnswer('The connection broke.', { cause });
  }
}

function toError(place: HttpPlace, { status, headers }: Response, text: string): Error {
  const problem = headers.get('content-type')?.includes('problem+json') ? readProblem(text) : null;
  if (problem === null) {
    // What lies between answers for an API that is away.
    if (status >= 500 || status === 429 || status === 408) return new NoAnswer(`The answer was ${status}.`);
    return new RuntimeError(
      'InvalidConfiguration',
      `${place.url} answered ${status}, and not as an Everthread API does: is the address right?`,
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
