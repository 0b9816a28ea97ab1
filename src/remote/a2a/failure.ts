/** Failures of an agent elsewhere, by code. Callers handle them as values: a fault of an agent never ends a thread. */
import { errorMessage, readField } from '../../core/value/thrown.ts';
import { quote } from '../wall/index.ts';

export type A2aCode =
  /** The agent is unreachable, overloaded or failing, or the connection broke. */
  | 'A2aUnavailable'
  /** The agent did not answer in time, or its task did not end in time. */
  | 'A2aTimeout'
  /** An answer exceeds a limit (limit.ts). */
  | 'A2aTooLarge'
  /** An answer violates the protocol, or does not belong to the request. */
  | 'A2aInvalid'
  /** The agent answered with a redirect, or its card leads to an origin that is not allowed. */
  | 'A2aRedirect'
  /** The agent refused the request. */
  | 'A2aRefused'
  /** The task demands credentials midway; messages never carry credentials. */
  | 'A2aAuthRequired'
  /** The task ended in the state that the code names. */
  | 'A2aTaskFailed'
  | 'A2aTaskRejected'
  | 'A2aTaskCanceled';

export interface FailureTerms {
  /** True if the agent has certainly not accepted the request. */
  readonly unsent?: boolean;
  /** The JSON-RPC error code or the HTTP status of the refusal. */
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

/** True if a later retry may succeed: the agent is unreachable, slow or overloaded. */
export function isTransient({ code }: A2aFailure): boolean {
  return code === 'A2aUnavailable' || code === 'A2aTimeout';
}

/** The protocol's JSON-RPC error codes for tasks. */
export const TASK_NOT_FOUND = -32001;
export const TASK_NOT_CANCELABLE = -32002;

/** Codes of network errors after which the request was certainly not received. */
const UNSENT_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Converts an error that the protocol's client has thrown. */
export function toFailure(error: unknown): A2aFailure {
  if (isA2aFailure(error)) return error;
  const { cause, message } = (error ?? {}) as { cause?: unknown; message?: unknown };
  if (isA2aFailure(cause)) return cause;
  const number = readErrorNumber(error);
  if (number !== undefined)
    return new A2aFailure('A2aRefused', `It refused the request (${number}): ${quote(errorMessage(error))}`, {
      number,
    });
  if (
    error instanceof Error &&
    error.name === 'TypeError' &&
    /fetch failed|terminated/.test(String(message))
  ) {
    const unsent = UNSENT_CODES.has(String(readField(cause, 'code')));
    return new A2aFailure('A2aUnavailable', quote(errorMessage(cause ?? error), 300), { unsent });
  }
  return new A2aFailure('A2aInvalid', `It sent an invalid answer: ${quote(errorMessage(error), 300)}`);
}

/** Returns the JSON-RPC error code if it is known, else the HTTP status of the REST binding, if any. */
function readErrorNumber(error: unknown): number | undefined {
  const { name = '', envelopeCode, statusCode } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof envelopeCode === 'number') return envelopeCode;
  if (name === 'TaskNotFoundError') return TASK_NOT_FOUND;
  if (name === 'TaskNotCancelableError') return TASK_NOT_CANCELABLE;
  return typeof statusCode === 'number' ? statusCode : undefined;
}
