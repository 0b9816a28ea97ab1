/**
 * Retries requests while a server is unreachable.
 * P1. A request that may be repeated is repeated until the server has been unreachable for `patienceMs`. Such a request
 *     changes nothing the second time.
 * P2. Any other request is repeated only if the API itself has reported that it did nothing.
 */

import { defer } from '../../core/value/deferred.ts';
import { isRuntimeError, RuntimeError } from '../../core/value/error.ts';
import { answerOf, askOnce, type HttpPlace, type HttpRequest, NoAnswer } from './http-place.ts';

export interface Patient extends HttpRequest {
  /** P1: true if repeating the request changes nothing. */
  readonly again?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds after which a response counts as lost. */
  readonly withinMs?: number;
}

const ANSWER_WITHIN_MS = 60_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;

/** Returns the response as JSON; null if it has no content. */
export async function askJson<T>(place: HttpPlace, request: Patient): Promise<T> {
  return askPatiently(place, request, async (response) => {
    const text = await response.text();
    return (text === '' ? null : JSON.parse(text)) as T;
  });
}

export async function askPatiently<T>(
  place: HttpPlace,
  { again = false, withinMs = ANSWER_WITHIN_MS, signal, ...request }: Patient,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const patience = new Patience(place, signal);
  for (;;) {
    const late = AbortSignal.timeout(withinMs);
    try {
      const either = AbortSignal.any([patience.signal, late]);
      return await answerOf(read(await askOnce(place, request, either)), either);
    } catch (error) {
      patience.signal.throwIfAborted();
      const lost = late.aborted ? new NoAnswer(`No answer came within ${withinMs} ms.`) : error;
      if (lost instanceof NoAnswer && !again) throw unknownOutcome(place, lost);
      if (!(lost instanceof NoAnswer) && !didNothing(lost)) throw lost;
      await patience.pause(lost);
    }
  }
}

/** P2: true if the request was refused before anything was begun. */
function didNothing(error: unknown): boolean {
  return isRuntimeError(error, 'ServerClosing') || isRuntimeError(error, 'TooManyStreams');
}

/** True if a reading with this error can be resumed later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof NoAnswer || didNothing(error)) return true;
  return isRuntimeError(error, 'StoreUnavailable') || isRuntimeError(error, 'TemporalUnavailable');
}

/** Pauses of growing length, until `patienceMs` have passed since the last response. */
export class Patience {
  /** Aborts when the client is closed, and with the caller's own signal. */
  readonly signal: AbortSignal;
  readonly #place: HttpPlace;
  #since = performance.now();
  #pauseMs = FIRST_PAUSE_MS;

  constructor(place: HttpPlace, signal?: AbortSignal) {
    this.#place = place;
    this.signal = signal ? AbortSignal.any([place.closed, signal]) : place.closed;
  }

  /** Resets the pauses: the server has responded. */
  answered(): void {
    this.#since = performance.now();
    this.#pauseMs = FIRST_PAUSE_MS;
  }

  /** Throws `ServerUnavailable` if the server has been unreachable for too long, and the reason of the signal. */
  async pause(cause: unknown): Promise<void> {
    const { url, patienceMs } = this.#place;
    if (performance.now() - this.#since >= patienceMs) {
      if (!(cause instanceof NoAnswer)) throw cause;
      throw new RuntimeError('ServerUnavailable', `No API answers at ${url}: ${reasonOf(cause)}`, { cause });
    }
    await pauseFor(this.#pauseMs * (0.5 + Math.random()), this.signal);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

function unknownOutcome({ url }: HttpPlace, cause: NoAnswer): RuntimeError {
  return new RuntimeError(
    'ServerUnavailable',
    `The API at ${url} did not answer, and may have done what was asked: look before you ask again. ${reasonOf(cause)}`,
    { cause },
  );
}

function reasonOf({ message, cause }: NoAnswer): string {
  const deepest = cause instanceof Error ? (cause.cause ?? cause) : undefined;
  return deepest instanceof Error && deepest.message !== '' ? `${message} (${deepest.message})` : message;
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
