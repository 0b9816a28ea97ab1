/**
 * Retries requests while a server is unreachable.
 * - A request that may be repeated is repeated until the server has been unreachable for `patienceMs`. Such a request
 *   changes nothing the second time.
 * - Any other request is repeated only if the API itself has reported that it did nothing.
 */

import { defer } from '../../core/value/deferred.ts';
import { isRuntimeError, RuntimeError } from '../../core/value/error.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import type { Answers, PathIds } from './answers.ts';
import {
  awaitResponse,
  type HttpConnection,
  type HttpRequest,
  NoAnswer,
  pathOf,
  requestOnce,
} from './http-place.ts';

export interface RetryableRequest extends HttpRequest {
  /** True if repeating the request changes nothing. */
  readonly again?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds after which a response counts as lost. */
  readonly withinMs?: number;
}

const RESPONSE_TIMEOUT_MS = 60_000;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2000;

/** Returns the response as JSON. */
export async function requestJson<T>(place: HttpConnection, request: RetryableRequest): Promise<T> {
  // A browser takes a response that was cut within its headers for a complete one without a body. That is no JSON, so
  // it counts as lost.
  return requestWithRetry(place, request, (response) => response.json() as Promise<T>);
}

/** Calls a route that answers in JSON. One that only reads may be repeated. */
export function callRoute<Route extends keyof Answers>(
  place: HttpConnection,
  route: Route,
  ids: PathIds<Route>,
  request: Omit<RetryableRequest, 'path' | 'method'> = {},
): Promise<Answers[Route]> {
  const [method, template = ''] = route.split(' ') as [HttpRequest['method'], string];
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: keyof PathIds<Route>) =>
    encodeURIComponent(ids[name]),
  );
  return requestJson(place, { method, path, again: method === 'GET', ...request });
}

/** Milliseconds that the upload of a file may take: as long as the server waits for a body. */
export const UPLOAD_TIMEOUT_MS = 300_000;

/** Reads a file of a thread. */
export function requestFile(place: HttpConnection, threadId: string, path: string): Promise<ArrayBuffer> {
  const request = { path: pathOf`/v1/threads/${threadId}/file`, query: { path }, again: true };
  return requestWithRetry(place, request, readWhole);
}

/**
 * Reads the bytes of a file. A browser takes a response over plain HTTP that was cut within its headers, or its status
 * line, for a complete one: without a body, or without a type. Throws `NoAnswer` then.
 */
async function readWhole(response: Response): Promise<ArrayBuffer> {
  const bytes = await response.arrayBuffer();
  const { headers } = response;
  const isWhole =
    bytes.byteLength === 0 ? headers.get('content-length') === '0' : headers.has('content-type');
  if (isWhole) return bytes;
  throw new NoAnswer('The response was cut within its headers.');
}

export async function requestWithRetry<T>(
  place: HttpConnection,
  { again = false, withinMs = RESPONSE_TIMEOUT_MS, signal, ...request }: RetryableRequest,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const patience = new RetryBackoff(place, signal);
  for (;;) {
    const late = AbortSignal.timeout(withinMs);
    try {
      const either = AbortSignal.any([patience.signal, late]);
      return await awaitResponse(read(await requestOnce(place, request, either)), either);
    } catch (error) {
      patience.signal.throwIfAborted();
      const lost = late.aborted ? new NoAnswer(`No answer was received within ${withinMs} ms.`) : error;
      if (lost instanceof NoAnswer && !again) throw unknownOutcome(place, lost);
      if (!(lost instanceof NoAnswer) && !hadNoEffect(lost)) throw lost;
      await patience.pause(lost);
    }
  }
}

/** True if the request was refused before anything was begun. */
function hadNoEffect(error: unknown): boolean {
  return isRuntimeError(error, 'ServerClosing') || isRuntimeError(error, 'TooManyStreams');
}

/** True if a reading with this error can be resumed later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof NoAnswer || hadNoEffect(error)) return true;
  return isRuntimeError(error, 'StoreUnavailable') || isRuntimeError(error, 'TemporalUnavailable');
}

/** Pauses of growing length, until `patienceMs` have passed since the last response. */
export class RetryBackoff {
  /** Aborts when the client is closed, and with the caller's own signal. */
  readonly signal: AbortSignal;
  readonly #connection: HttpConnection;
  #since = performance.now();
  #pauseMs = FIRST_PAUSE_MS;

  constructor(place: HttpConnection, signal?: AbortSignal) {
    this.#connection = place;
    this.signal = signal ? AbortSignal.any([place.closed, signal]) : place.closed;
  }

  /** Resets the pauses: the server has responded. */
  answered(): void {
    this.#since = performance.now();
    this.#pauseMs = FIRST_PAUSE_MS;
  }

  /** Throws `ServerUnavailable` if the server has been unreachable for too long, and the reason of the signal. */
  async pause(cause: unknown): Promise<void> {
    const { url, patienceMs } = this.#connection;
    if (performance.now() - this.#since >= patienceMs) {
      if (!(cause instanceof NoAnswer)) throw cause;
      throw new RuntimeError('ServerUnavailable', `No API answers at ${url}: ${reasonOf(cause)}`, { cause });
    }
    await pauseFor(this.#pauseMs * (0.5 + Math.random()), this.signal);
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
  }
}

function unknownOutcome({ url }: HttpConnection, cause: NoAnswer): RuntimeError {
  return new RuntimeError(
    'ServerUnavailable',
    `The API at ${url} did not answer, and may have done what was asked: check before you repeat the request. ${reasonOf(cause)}`,
    { cause },
  );
}

function reasonOf({ message, cause }: NoAnswer): string {
  const deepest = cause instanceof Error ? (cause.cause ?? cause) : undefined;
  return deepest === undefined ? message : `${message} (${errorMessage(deepest)})`;
}

/** Throws the reason of the signal once it aborts. */
export async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve } = defer<void>();
  const timer = setTimeout(resolve, ms);
  const leave = () => resolve();
  signal.addEventListener('abort', leave, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', leave);
  signal.throwIfAborted();
}
