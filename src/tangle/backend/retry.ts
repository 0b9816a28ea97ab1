/**
 * One request to a backend's server, tried again while it is down for a while.
 * R1. Only until headers arrive: of what has begun to answer nothing is asked twice.
 * R2. What the caller has aborted is not tried again, and neither is a refusal.
 */
import { BackendTransportError } from '../failure.ts';
import { excerptOf } from '../wire/body-text.ts';

export interface RetryOptions {
  /** Tries in all; 5 unless given. */
  readonly attempts?: number;
  /** Milliseconds before the second one, doubled from then on, up to `maxDelayMs`, each up to a quarter more or less; 1000 and 30,000 unless given. */
  readonly delayMs?: number;
  readonly maxDelayMs?: number;
  /** Milliseconds until headers; 120,000 unless given, 0: without end. */
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

/** Whether another try, or another model, may do better. */
export function isTransient(error: unknown): boolean {
  return error instanceof BackendTransportError && (error.status === 0 || TRANSIENT.has(error.status));
}

/** A response of 2xx. Throws `BackendTransportError` with the last refusal, and the signal's reason. */
export async function askBackend(request: BackendRequest): Promise<Response> {
  const { attempts = 5, delayMs = 1000, maxDelayMs = 30_000 } = request.retry;
  for (let n = 1; ; n += 1) {
    try {
      return await tryOnce(request);
    } catch (error) {
      // R2: no more of it.
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
    // R1: from here on only the caller ends it.
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
    const why = late.signal.aborted ? `no headers came within ${headersMs} ms` : messageOf(error);
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
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
  signal?.throwIfAborted();
}
