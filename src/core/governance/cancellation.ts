/**
 * The request to cancel an execution, as whoever asks gives it. The first one counts: who comes later is told of it.
 */

/** Of a signal or an update. Without an id the execution that runs. */
export interface CancelRequest {
  readonly executionId?: string;
  /** Kept with the execution and told by its last event; at most 500 characters. */
  readonly reason?: string;
  /** Who asks; at most 200 characters. */
  readonly by?: string;
}

/** As it is kept. */
export interface Cancellation {
  readonly reason: string | null;
  readonly by: string | null;
  /** Microseconds since 1970. */
  readonly at: number;
}

export interface Canceling {
  readonly kind: 'canceling';
  readonly executionId: string;
  readonly cancellation: Cancellation;
  /** It has not begun: nothing is to be aborted. */
  readonly ahead?: true;
}

export type CancelVerdict =
  /** The execution is being cancelled, by this request or by the one that came first. */
  | Canceling
  /** There is no such execution; where none was named, there never was one. */
  | { readonly kind: 'not_found' }
  | { readonly kind: 'not_cancelable'; readonly executionId: string; readonly stopReason: string | null };

/** Why an execution ended that was cancelled. */
export const CANCELED = 'canceled';

/** What cannot be understood is left out: a request counts whatever its payload. */
export function readCancelRequest(payload: unknown): CancelRequest {
  const { executionId, reason, by } = (payload ?? {}) as Readonly<Record<string, unknown>>;
  return {
    ...textField('executionId', executionId, 200),
    ...textField('reason', reason, 500),
    ...textField('by', by, 200),
  };
}

function textField(name: string, value: unknown, most: number): Readonly<Record<string, string>> {
  return typeof value === 'string' && value.length > 0 ? { [name]: value.slice(0, most) } : {};
}

export interface CancelRefusal {
  readonly code: 'ExecutionNotFound' | 'ExecutionNotCancelable';
  readonly message: string;
}

/** Why nothing is cancelled; undefined where something is. */
export function refuseCancel(
  threadId: string,
  { executionId }: CancelRequest,
  verdict: CancelVerdict,
): CancelRefusal | undefined {
  if (verdict.kind === 'canceling') return undefined;
  if (verdict.kind === 'not_found') {
    const which =
      executionId === undefined ? 'has not run yet' : `has no execution ${JSON.stringify(executionId)}`;
    return { code: 'ExecutionNotFound', message: `Thread "${threadId}" ${which}: nothing can be cancelled.` };
  }
  const { executionId: found, stopReason } = verdict;
  const how = stopReason === null ? '' : ` (${stopReason})`;
  const message = `Execution "${found}" of thread "${threadId}" has ended${how}: nothing is left to cancel.`;
  return { code: 'ExecutionNotCancelable', message };
}
