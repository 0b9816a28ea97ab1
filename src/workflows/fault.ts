/** Activities that failed for good, told apart from cancellations and from faults of the workflow's own code. */
import { isCancellation } from '@temporalio/workflow';
import type { StoredError } from '../core/thread/step.ts';

/** Anything else is thrown on: a fault of this code fails the workflow task, is tried again, and a repaired worker goes on. */
export function isFailedActivity(error: unknown): boolean {
  return !isCancellation(error) && (error as Error).name === 'ActivityFailure';
}

/** Why a step or a call could not be tried, as it is stored. */
export function toStoredError(error: unknown): StoredError {
  const cause = (error as { cause?: { type?: string; message?: string } }).cause;
  return { code: cause?.type ?? 'Fault', message: (cause?.message ?? String(error)).slice(0, 1000) };
}
