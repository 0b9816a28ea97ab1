/**
 * The wrapper around every activity: heartbeats, the size of answers, and errors at the edge.
 * G1. Heartbeats come from a timer, begun before any other await: a model that thinks silently and a tool that
 *     computes are alive (heartbeat.ts tells how often).
 * G2. An answer above LIMITS.activityResultBytes is a fault of ours and fails loudly: history must stay small.
 * G3. Errors become ApplicationFailures with the code as `type`; only what can never succeed is non-retryable.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import { type ErrorCode, errorMessage, isRuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { readField } from '../../core/value/thrown.ts';
import { heartbeatPauseMs } from './heartbeat.ts';
import { progressOf } from './progress.ts';

/** A step's fault that came back this often will not go away by itself; the thread says so and rests. */
export const FAULT_ATTEMPTS = 8;

/** What ails the store, or this worker's project, ails no thread: until the store, or the right worker, is back its activities try again, without end. */
const STORE_PAUSES: Partial<Record<ErrorCode, '1 second' | '2 seconds' | '5 seconds'>> = {
  StoreUnavailable: '1 second',
  StoreFull: '2 seconds',
  StoreMismatch: '5 seconds',
  StoreLost: '5 seconds',
  StoreCorrupt: '5 seconds',
  // Another build of the project may know it.
  TaskNotFound: '5 seconds',
};

/** By name, since they come from several realms. */
const ENDS: readonly unknown[] = ['WorkerHandover', 'StaleRun', 'CancelledFailure', 'HookAborted'];

/** It says nothing of the work: that was aborted or replaced, or its store is in trouble. Another attempt may do. */
export function isPassing(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted || ENDS.includes(readField(error, 'name'))) return true;
  return storePause(error) !== undefined;
}

/** Where the store is in trouble: when to try again. */
function storePause(error: unknown) {
  return isRuntimeError(error) && Object.hasOwn(STORE_PAUSES, error.code)
    ? STORE_PAUSES[error.code]
    : undefined;
}

/** Work that another worker must take over, at once. */
export class WorkerHandover extends Error {
  override readonly name = 'WorkerHandover';
}

/** Throws where this worker begins nothing new. */
export function refuseLeaving({ leaving }: { readonly leaving: AbortSignal }): void {
  if (leaving.aborted) throw new WorkerHandover('This worker is shutting down.');
}

export type Activity<Input, Output> = (input: Input) => Promise<Output>;

export interface GuardOptions {
  readonly stopWithinMs: number;
  /** Attempts after which a fault is final; without it the activity is tried for ever. */
  readonly faultAttempts?: number;
}

export function guard<Input, Output>(
  run: Activity<Input, Output>,
  { stopWithinMs, faultAttempts = Number.POSITIVE_INFINITY }: GuardOptions,
): Activity<Input, Output> {
  return async (input) => {
    const context = Context.current();
    const { isLocal, heartbeatTimeoutMs } = context.info;
    const pause = heartbeatPauseMs(heartbeatTimeoutMs, stopWithinMs);
    const timer = isLocal ? undefined : setInterval(() => context.heartbeat(progressOf(context)), pause);
    try {
      return withinSize(await run(input), context.info.activityType);
    } catch (error) {
      throw toFailure(error, context.info.attempt >= faultAttempts);
    } finally {
      clearInterval(timer);
    }
  };
}

/** As it crosses Temporal. */
export function resultBytes(result: unknown): number {
  return Buffer.byteLength(JSON.stringify(result ?? null));
}

function withinSize<T>(result: T, activity: string): T {
  const bytes = resultBytes(result);
  if (bytes <= LIMITS.activityResultBytes) return result;
  throw ApplicationFailure.nonRetryable(
    `${activity} answered ${bytes} bytes; ${LIMITS.activityResultBytes} may cross Temporal.`,
    'ResultTooLarge',
  );
}

function toFailure(error: unknown, final: boolean): Error {
  const name = readField(error, 'name');
  if (name === 'ApplicationFailure') return error as ApplicationFailure;
  if (name === 'CancelledFailure') return error as CancelledFailure;
  const message = errorMessage(error);
  if (name === 'WorkerHandover') {
    // Nothing went wrong: no line in the log, no count among the failures.
    const category = ApplicationFailureCategory.BENIGN;
    return ApplicationFailure.create({ message, type: 'WorkerShutdown', nextRetryDelay: '10 ms', category });
  }
  if (name === 'StaleRun') return ApplicationFailure.nonRetryable(message, 'StaleRun');
  const type = isRuntimeError(error) ? error.code : 'Fault';
  const nextRetryDelay = storePause(error);
  // Nothing is wrong with the step: the thread waits, and the Web UI shows why.
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
