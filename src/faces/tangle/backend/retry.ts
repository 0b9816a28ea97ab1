/**
 * One request to a backend's server, retried while the server fails temporarily.
 * - A request is retried only until its headers arrive: an answer that has begun is never requested twice.
 * - A request is not retried if the caller has aborted it, or if the server has refused it permanently.
 */
import { errorMessage, readField } from '../../../core/value/thrown.ts';
import { BackendTransportError } from '../failure.ts';
import { excerptOf } from '../wire/body-text.ts';

export interface RetryOptions {
  /** Total number of attempts; 5 unless given. */
  readonly attempts?: number;
  /**
   * Milliseconds before the second attempt; 1000 unless given. Doubled for each further attempt, up to `maxDelayMs`
   * (30,000 unless given), and varied by up to a quarter.
   */
  readonly delayMs?: number;
  readonly maxDelayMs?: number;
  /** Milliseconds to wait for the headers; 120,000 unless given; 0: no limit. */
  readonly headersMs?: number;
}

export type BackendFetch = (input: string, init: RequestInit) => Promise<Response>;

export interface BackendRequest {
  readonly backend: string;
  readonly url: string;
  readonly init: RequestInit;
  readonly fetch: BackendFetch;
  readonly retry: RetryOptions;
  readonly signal: AbortSignal | undefined;
}

const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504]);

/** True if another attempt, or another model, may succeed. */
export function isTransient(error: unknown): boolean {
  return error instanceof BackendTransportError && (error.status === 0 || TRANSIENT.has(error.status));
}

/** Returns a 2xx response. Throws `BackendTransportError` with the last failure, or the signal's reason. */
export async function askBackend(request: BackendRequest): Promise<Response> {
  const { attempts = 5, delayMs = 1000, maxDelayMs = 30_000 } = request.retry;
  for (let n = 1; ; n += 1) {
    try {
      return await tryOnce(request);
    } catch (error) {
      request.signal?.throwIfAborted();
      if (!isTransient(error) || n >= attempts) throw error;
      const longest = Math.min(delayMs * 2 ** (n - 1), maxDelayMs);
      await pause(longest * (0.75 + Math.random() / 2), request.signal);
    }
  }
}

async function tryOnce({ backend, url, init, fetch, retry, signal }: BackendRequest): Promise<Response> {
  const { headersMs = 120_000 } = retry;
  const late = new AbortController();
  const timer = headersMs > 0 ? setTimeout(() => late.abort(), headersMs) : undefined;
  const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
  try {
    const response = await fetch(url, { ...init, signal: either });
    // From here on only the caller can abort it.
    if (response.ok) return response;
    const { status } = response;
    const body = await excerptOf(response);
    throw new BackendTransportError(`${url} answered ${status}${body === '' ? '' : `: ${body}`}`, {
      backend,
      status,
      body,
    });
  } catch (error) {
    if (error instanceof BackendTransportError) throw error;
    signal?.throwIfAborted();
    const why = late.signal.aborted
      ? `no response headers were received within ${headersMs} ms`
      : messageOf(error);
    throw new BackendTransportError(
      `${url} could not be reached: ${why}`,
      { backend, status: 0 },
      { cause: error },
    );
  } finally {
    clearTimeout(timer);
  }
}

function messageOf(error: unknown): string {
  const cause = readField(error, 'cause');
  return cause === undefined ? errorMessage(error) : `${errorMessage(error)} (${errorMessage(cause)})`;
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
  signal?.throwIfAborted();
}
