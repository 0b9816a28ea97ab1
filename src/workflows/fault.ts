/** Distinguishes activities that failed permanently from cancellations and from faults of the workflow's own code. */

import { isCancellation } from '@temporalio/workflow';
import type { StoredError } from '../core/thread/step.ts';
import { errorMessage, readField } from '../core/value/thrown.ts';

/** True if an activity failed permanently. Other errors are rethrown: they fail the workflow task, which is retried. */
export function isFailedActivity(error: unknown): boolean {
  return !isCancellation(error) && (error as Error).name === 'ActivityFailure';
}

/** Converts the failure of an activity to a stored error. */
export function toStoredError(error: unknown): StoredError {
  const cause = readField(error, 'cause');
  const type = readField(cause, 'type');
  const code = typeof type === 'string' ? type : 'Fault';
  return { code, message: errorMessage(cause ?? error).slice(0, 1000) };
}
