/** What an agent elsewhere can do wrong, told apart by code. A failure is a value for whoever called: nothing of an agent ends a thread. */
import { quote } from '../outbound/index.ts';

export type A2aCode =
  /** It cannot be reached, or breaks off. */
  | 'A2aUnavailable'
  /** It did not answer in time, or its task did not end in time. */
  | 'A2aTimeout'
  /** It said more than it may. */
  | 'A2aTooLarge'
  /** What it said is not what the protocol has, or not what was asked. */
  | 'A2aInvalid'
  /** It, or its card, sent the request somewhere else. */
  | 'A2aRedirect'
  /** It does not take what it was sent. */
  | 'A2aRefused'
  /** It wants credentials in mid-task, which a message never gives. */
  | 'A2aAuthRequired'
  /** Its task ended so. */
  | 'A2aTaskFailed'
  | 'A2aTaskRejected'
  | 'A2aTaskCanceled';

export interface FailureTerms {
  /** It has certainly not received the request. */
  readonly unsent?: boolean;
  /** The number of its refusal. */
  readonly number?: number;
}

export class A2aFailure extends Error {
  readonly code: A2aCode;
  readonly unsent: boolean;
  readonly number: number | undefined;

  constructor(code: A2aCode, message: string, { unsent = false, number }: FailureTerms = {}) {
    super(message);
    this.name = 'A2aFailure';
    this.code = code;
    this.unsent = unsent;
    this.number = number;
  }
}

export function isA2aFailure(error: unknown): error is A2aFailure {
  return error instanceof Error && error.name === 'A2aFailure' && 'code' in error;
}

/** It may be otherwise in a while: it is away, slow, or has too much to do. */
export function isPassing({ code }: A2aFailure): boolean {
  return code === 'A2aUnavailable' || code === 'A2aTimeout';
}

/** The protocol's numbers for what a task is. */
export const TASK_NOT_FOUND = -32001;
export const TASK_NOT_CANCELABLE = -32002;

/** Nothing of it is there: the request was never given to anybody. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Of what the client of the protocol has thrown. */
export function toFailure(error: unknown): A2aFailure {
  if (isA2aFailure(error)) return error;
  const { cause, message } = (error ?? {}) as { cause?: unknown; message?: unknown };
  if (isA2aFailure(cause)) return cause;
  const number = numberOf(error);
  if (number !== undefined)
    return new A2aFailure('A2aRefused', `It refuses (${number}): ${quote(message)}`, { number });
  if (
    error instanceof Error &&
    error.name === 'TypeError' &&
    /fetch failed|terminated/.test(String(message))
  ) {
    const why = (cause ?? {}) as { code?: unknown; message?: unknown };
    const unsent = UNSENT.has(String(why.code));
    return new A2aFailure('A2aUnavailable', quote(why.message ?? why.code ?? message, 300), { unsent });
  }
  return new A2aFailure('A2aInvalid', `It answered what the protocol does not have: ${quote(message, 300)}`);
}

/** The number in JSON-RPC where it is known, else the status over REST. */
function numberOf(error: unknown): number | undefined {
  const { name = '', envelopeCode, statusCode } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof envelopeCode === 'number') return envelopeCode;
  if (name === 'TaskNotFoundError') return TASK_NOT_FOUND;
  if (name === 'TaskNotCancelableError') return TASK_NOT_CANCELABLE;
  return typeof statusCode === 'number' ? statusCode : undefined;
}
