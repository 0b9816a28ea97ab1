/**
 * The request to cancel an execution. The first request counts; later ones get the outcome of the first.
 */

/** Payload of a signal or an update. Without an id, it names the running execution. */
export interface CancelRequest {
  readonly executionId?: string;
  /** Stored with the execution and part of its last event; at most 500 characters. */
  readonly reason?: string;
  /** Who requests it; at most 200 characters. */
  readonly by?: string;
}

/** A stored cancellation. */
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
  /** True if the execution has not begun: there is nothing to abort. */
  readonly ahead?: true;
}

export type CancelVerdict =
  /** The execution is being cancelled, by this request or by the one that came first. */
  | Canceling
  /** There is no such execution; if none was named, there has never been one. */
  | { readonly kind: 'not_found' }
  | { readonly kind: 'not_cancelable'; readonly executionId: string; readonly stopReason: string | null };

/** The reason with which a cancelled execution ends. */
export const CANCELED = 'canceled';

/** Invalid fields are ignored: a request counts whatever its payload. */
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

/** Returns why nothing is cancelled; undefined if something is. */
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
