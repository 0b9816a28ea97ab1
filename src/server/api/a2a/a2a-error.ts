/** Errors of A2A. Access errors, faults and unreachable servers are problem documents, as in the rest of the API. */
import { type ErrorCode, isRuntimeError, RuntimeError } from '../../../core/value/error.ts';
import { readField } from '../../../core/value/thrown.ts';

/** Reason → JSON-RPC error code, HTTP status of the REST binding. */
const A2A_ERRORS = {
  PARSE_ERROR: [-32700, 400],
  INVALID_REQUEST: [-32600, 400],
  METHOD_NOT_FOUND: [-32601, 404],
  INVALID_PARAMS: [-32602, 400],
  TASK_NOT_FOUND: [-32001, 404],
  TASK_NOT_CANCELABLE: [-32002, 400],
  PUSH_NOTIFICATION_NOT_SUPPORTED: [-32003, 400],
  UNSUPPORTED_OPERATION: [-32004, 400],
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: [-32007, 400],
  VERSION_NOT_SUPPORTED: [-32009, 400],
} as const satisfies Record<string, readonly [code: number, status: number]>;

export type A2aReason = keyof typeof A2A_ERRORS;

/** A refusal for which only A2A has an error code. */
export class A2aRefusal extends RuntimeError {
  readonly reason: A2aReason;

  constructor(reason: A2aReason, message: string) {
    super('InvalidRequest', message);
    this.reason = reason;
  }
}

const REASONS: { readonly [Code in ErrorCode]?: A2aReason } = {
  ThreadNotFound: 'TASK_NOT_FOUND',
  ExecutionNotFound: 'TASK_NOT_FOUND',
  ExecutionNotCancelable: 'TASK_NOT_CANCELABLE',
  ThreadTerminated: 'UNSUPPORTED_OPERATION',
  InvalidRequest: 'INVALID_PARAMS',
  InvalidMessage: 'INVALID_PARAMS',
  InvalidStart: 'INVALID_PARAMS',
  InvalidValue: 'INVALID_PARAMS',
  MessageTooLarge: 'INVALID_PARAMS',
  LimitExceeded: 'INVALID_PARAMS',
  ExecutionConflict: 'INVALID_PARAMS',
  ItemConflict: 'INVALID_PARAMS',
};

export interface A2aError {
  readonly reason: A2aReason;
  readonly code: number;
  readonly status: number;
  readonly message: string;
  readonly details: readonly object[];
}

/** Null if the error is to be answered as a problem document. */
export function toA2aError(error: unknown): A2aError | null {
  if (!isRuntimeError(error)) return null;
  const own = readField(error, 'reason') as A2aReason | undefined;
  const reason = own && Object.hasOwn(A2A_ERRORS, own) ? own : REASONS[error.code];
  if (reason === undefined) return null;
  const [code, status] = A2A_ERRORS[reason];
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason,
    domain: 'a2a-protocol.org',
    metadata: { code: error.code },
  };
  return { reason, code, status, message: error.message, details: [info] };
}
