/** Translates errors of the Temporal client into our codes. Only this file inspects those errors. */
import { errorMessage, isRuntimeError, RuntimeError } from '../core/value/error.ts';

const GRPC_INVALID_ARGUMENT = 3;
const GRPC_NOT_FOUND = 5;
const GRPC_PERMISSION_DENIED = 7;
const GRPC_UNIMPLEMENTED = 12;

interface ErrorShape {
  readonly name?: string;
  readonly code?: number;
  readonly namespace?: string;
  readonly cause?: { readonly type?: string; readonly message?: string; readonly code?: number };
}

/** True if there is no such workflow, or it is closed: signals and updates fail alike for both. */
export function isWorkflowGone(error: unknown): boolean {
  const { name, code, cause } = error as ErrorShape;
  // A missing namespace has the same code, but says nothing about its workflows.
  if (missingNamespace(error) !== undefined) return false;
  return name === 'WorkflowNotFoundError' || code === GRPC_NOT_FOUND || cause?.code === GRPC_NOT_FOUND;
}

/** True if the run accepts no more signals: the server allows 10,000 per run of a workflow. */
export function isSignalLimitReached(error: unknown): boolean {
  const { code, cause } = error as ErrorShape;
  if (code !== GRPC_INVALID_ARGUMENT && cause?.code !== GRPC_INVALID_ARGUMENT) return false;
  return /limit for signal/.test(`${errorMessage(error)} ${errorMessage(cause)}`);
}

/** True if the server will never carry out a request of this kind for this client. */
export function isRequestRefused(error: unknown): boolean {
  const { code } = error as ErrorShape;
  return code === GRPC_PERMISSION_DENIED || code === GRPC_UNIMPLEMENTED;
}

export function isAlreadyStarted(error: unknown): boolean {
  return (error as ErrorShape).name === 'WorkflowExecutionAlreadyStartedError';
}

/**
 * Translates a rejected update (its code is the type of the cause), a missing namespace and an unreachable server.
 * Every other error is returned unchanged.
 */
export function toRuntimeError(error: unknown): unknown {
  if (isRuntimeError(error)) return error;
  const { name, cause } = error as ErrorShape;
  if (name === 'WorkflowUpdateFailedError' && cause?.type !== undefined) {
    const refused = Object.assign(new Error(), { name: 'RuntimeError', code: cause.type });
    if (isRuntimeError(refused)) {
      return new RuntimeError(refused.code, cause.message ?? errorMessage(error), { cause: error });
    }
  }
  const namespace = missingNamespace(error);
  if (namespace !== undefined)
    return new RuntimeError(
      'TemporalUnavailable',
      `The Temporal server has no namespace "${namespace}". Set TEMPORAL_NAMESPACE, or create it: temporal operator namespace create -n ${namespace}`,
      { cause: error },
    );
  if ((error as ErrorShape).code === 14 || cause?.code === 14) {
    return new RuntimeError('TemporalUnavailable', 'The Temporal server does not answer. Is it running?', {
      cause: error,
    });
  }
  return error;
}

/** The namespace that the server lacks; undefined if the error is a different one. */
function missingNamespace(error: unknown): string | undefined {
  const { name, namespace, cause } = error as ErrorShape;
  if (name === 'NamespaceNotFoundError') return namespace ?? '';
  return /\bNamespace (.+?) is not found/.exec(`${errorMessage(error)} ${errorMessage(cause)}`)?.[1];
}
