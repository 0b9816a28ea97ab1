/**
 * The wrapper around every activity: heartbeats, the size limit of results, and the conversion of errors.
 * - Heartbeats come from a timer that starts before any other await. So a model that thinks without output and a tool
 *   that is computing count as alive.
 * - A result above LIMITS.activityResultBytes is a bug of ours and fails loudly: history must stay small.
 * - Errors become ApplicationFailures with the code as `type`; only what can never succeed is non-retryable.
 *
 * The interval of an activity's heartbeats. Temporal Cloud bills each one as an action, so they are only as frequent as
 * these rules require.
 * - A worker counts as lost only if all heartbeats within a timeout are lost or late. The SDK's own interval is four
 *   fifths of the timeout: with a timeout of one second, a delay of 200 ms would leave the tool of a living worker
 *   with an unknown outcome.
 * - The response to a heartbeat reports a cancellation. So the interval bounds how long a stop takes if another
 *   worker runs the thread; on the thread's own worker it arrives at once (worker/prompt-cancellations.ts).
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import { type ErrorCode, errorMessage, isRuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { readField } from '../../core/value/thrown.ts';
import { noteQueueTime } from './run-ref.ts';

/**
 * Retry delays for trouble with the store, or with this worker's project. It is no fault of a thread: activities are
 * retried without limit until the store, or a suitable worker, is back.
 */
const STORE_PAUSES: Partial<Record<ErrorCode, '1 second' | '2 seconds' | '5 seconds'>> = {
  StoreUnavailable: '1 second',
  StoreFull: '2 seconds',
  StoreMismatch: '5 seconds',
  StoreLost: '5 seconds',
  StoreCorrupt: '5 seconds',
  // Another build of the project may define the task.
  TaskNotFound: '5 seconds',
};

/**
 * Errors that end an attempt without being a fault of its work. Compared by name, since they come from several realms.
 */
const INTERRUPTIONS: readonly unknown[] = [
  ...['WorkerHandover', 'BegunElsewhere', 'StaleRun', 'StaleAttempt', 'CancelledFailure', 'HookAborted'],
];

/**
 * True if the error says nothing about the work itself: it was aborted or replaced, or its store is in trouble. A retry
 * may succeed.
 */
export function isTransient(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted || INTERRUPTIONS.includes(readField(error, 'name'))) return true;
  return storePause(error) !== undefined;
}

/** The retry delay for an error of STORE_PAUSES; undefined for any other error. */
function storePause(error: unknown) {
  return isRuntimeError(error) && Object.hasOwn(STORE_PAUSES, error.code)
    ? STORE_PAUSES[error.code]
    : undefined;
}

/** Thrown for work that another worker must take over at once. */
export class WorkerHandover extends Error {
  override readonly name = 'WorkerHandover';
}

/**
 * Thrown for a call that another attempt has begun and that must not be begun twice. Only the workflow knows whether
 * that attempt is lost: this one may itself be the one that was given up (tool/record-tool-outcome.ts).
 */
export class BegunElsewhere extends Error {
  override readonly name = 'BegunElsewhere';
}

/** Throws `WorkerHandover` if this worker is shutting down and begins nothing new. */
export function throwIfLeaving({ leaving }: { readonly leaving: AbortSignal }): void {
  if (leaving.aborted) throw new WorkerHandover('This worker is shutting down.');
}

/**
 * True if the step was left because its model took no request, and this is the first attempt since: another one means
 * that a worker was lost.
 */
export function hasLeft(asked: object | undefined): boolean {
  return asked !== undefined && Context.current().info.attempt === 1;
}

interface GuardOptions {
  readonly stopWithinMs: number;
  /** Attempts after which a fault is final; if absent, the activity is retried without limit. */
  readonly faultAttempts?: number | undefined;
}

export function guard<Input, Output>(
  run: (input: Input) => Promise<Output>,
  { stopWithinMs, faultAttempts = Number.POSITIVE_INFINITY }: GuardOptions,
): (input: Input) => Promise<Output> {
  return async (input) => {
    const context = Context.current();
    const { isLocal, heartbeatTimeoutMs } = context.info;
    const pause = heartbeatPauseMs(heartbeatTimeoutMs, stopWithinMs);
    const timer = isLocal
      ? undefined
      : setInterval(() => context.heartbeat(progressTexts.get(context)), pause);
    noteQueueTime(context);
    try {
      return withinSize(await run(input), context.info.activityType);
    } catch (error) {
      throw toFailure(error, context.info.attempt >= faultAttempts);
    } finally {
      clearInterval(timer);
    }
  };
}

/** The size of a result in bytes, as it is sent to Temporal. */
export function resultBytes(result: unknown): number {
  return Buffer.byteLength(JSON.stringify(result ?? null));
}

function withinSize<T>(result: T, activity: string): T {
  const bytes = resultBytes(result);
  if (bytes <= LIMITS.activityResultBytes) return result;
  throw ApplicationFailure.nonRetryable(
    `${activity} returned ${bytes} bytes; at most ${LIMITS.activityResultBytes} may pass through Temporal.`,
    'ResultTooLarge',
  );
}

function toFailure(error: unknown, final: boolean): Error {
  const name = readField(error, 'name');
  if (name === 'ApplicationFailure') return error as ApplicationFailure;
  if (name === 'CancelledFailure') return error as CancelledFailure;
  const message = errorMessage(error);
  if (name === 'WorkerHandover') {
    // Nothing went wrong: BENIGN keeps it out of the log and the failure metrics.
    const category = ApplicationFailureCategory.BENIGN;
    return ApplicationFailure.create({ message, type: 'WorkerShutdown', nextRetryDelay: '10 ms', category });
  }
  if (name === 'StaleRun') return ApplicationFailure.nonRetryable(message, 'StaleRun');
  if (name === 'StaleAttempt') {
    // The server ignores it, since it knows the newer attempt. If it does not, its next attempt is the newest one.
    const category = ApplicationFailureCategory.BENIGN;
    return ApplicationFailure.create({ message, type: 'StaleAttempt', category });
  }
  if (name === 'BegunElsewhere') {
    const category = ApplicationFailureCategory.BENIGN;
    return ApplicationFailure.create({ message, type: 'BegunElsewhere', nonRetryable: true, category });
  }
  const type = isRuntimeError(error) ? error.code : 'Fault';
  const nextRetryDelay = storePause(error);
  // The step itself has no fault: the thread waits, and the Web UI shows why.
  if (nextRetryDelay) return ApplicationFailure.create({ message, type, nextRetryDelay });
  const cause = error instanceof Error ? error : undefined;
  return ApplicationFailure.create({ message, type, nonRetryable: final, cause });
}

/** The signal that ends an activity's work: cancelled by the workflow, or handed over by the worker. */
export function abortSignal(handover?: AbortSignal): AbortSignal {
  const { cancellationSignal } = Context.current();
  return handover ? AbortSignal.any([cancellationSignal, handover]) : cancellationSignal;
}

/** Why the work was aborted, as the error to throw. */
export function abortError(handover?: AbortSignal): Error {
  const { cancellationSignal } = Context.current();
  if (handover?.aborted && !cancellationSignal.aborted)
    return new WorkerHandover('This worker is shutting down.');
  const { reason } = cancellationSignal;
  return reason instanceof Error ? reason : new CancelledFailure('cancelled');
}

const HEARTBEATS_PER_TIMEOUT = 3;

export function heartbeatPauseMs(timeoutMs: number | undefined, stopWithinMs: number): number {
  return Math.min(Math.floor((timeoutMs ?? Number.POSITIVE_INFINITY) / HEARTBEATS_PER_TIMEOUT), stopWithinMs);
}

/**
 * A text that says what an activity is doing: its heartbeats carry it, and the Web UI shows it beside the running
 * activity.
 */
const progressTexts = new WeakMap<Context, string>();

export function showProgress(words: string): void {
  progressTexts.set(Context.current(), words);
}
