/** Distinguishes activities that failed permanently from cancellations and from faults of the workflow's own code. */
import { isCancellation } from '@temporalio/workflow';
import type { StoredError } from '../core/thread/step.ts';

/** True if an activity failed permanently. Other errors are rethrown: they fail the workflow task, which is retried. */
export function isFailedActivity(error: unknown): boolean {
  return !isCancellation(error) && (error as Error).name === 'ActivityFailure';
}

/** Converts the failure of an activity to a stored error. */
export function toStoredError(error: unknown): StoredError {
  const cause = (error as { cause?: { type?: string; message?: string } }).cause;
  return { code: cause?.type ?? 'Fault', message: (cause?.message ?? String(error)).slice(0, 1000) };
}
