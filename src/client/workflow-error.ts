/** Translates errors of the Temporal client into our codes. The one place that tells them apart. */
import { errorMessage, isRuntimeError, RuntimeError } from '../core/value/error.ts';

const GRPC_INVALID_ARGUMENT = 3;
const GRPC_NOT_FOUND = 5;

interface ErrorShape {
  readonly name?: string;
  readonly code?: number;
  readonly namespace?: string;
  readonly cause?: { readonly type?: string; readonly message?: string; readonly code?: number };
}

/** No such workflow, or a closed one: signals and updates get the same answer. */
export function isGone(error: unknown): boolean {
  const { name, code, cause } = error as ErrorShape;
  // The same code stands for a namespace, of whose workflows nothing is known then.
  if (absentNamespace(error) !== undefined) return false;
  return name === 'WorkflowNotFoundError' || code === GRPC_NOT_FOUND || cause?.code === GRPC_NOT_FOUND;
}

/** The server accepts 10,000 signals for one run of a workflow, and no more until the next run. */
export function isFull(error: unknown): boolean {
  const { code, cause } = error as ErrorShape;
  if (code !== GRPC_INVALID_ARGUMENT && cause?.code !== GRPC_INVALID_ARGUMENT) return false;
  return /limit for signal/.test(`${errorMessage(error)} ${errorMessage(cause)}`);
}

export function isAlreadyStarted(error: unknown): boolean {
  return (error as ErrorShape).name === 'WorkflowExecutionAlreadyStartedError';
}

/** A rejected update has its code as the cause's type; every other error passes unchanged. */
export function toRuntimeError(error: unknown): unknown {
  if (isRuntimeError(error)) return error;
  const { name, cause } = error as ErrorShape;
  if (name === 'WorkflowUpdateFailedError' && cause?.type !== undefined) {
    const refused = Object.assign(new Error(), { name: 'RuntimeError', code: cause.type });
    if (isRuntimeError(refused)) {
      return new RuntimeError(refused.code, cause.message ?? errorMessage(error), { cause: error });
    }
  }
  const namespace = absentNamespace(error);
  if (namespace !== undefined)
    return new RuntimeError(
      'TemporalUnavailable',
      `The Temporal server has no namespace "${namespace}". Set TEMPORAL_NAMESPACE, or make it: temporal operator namespace create -n ${namespace}`,
      { cause: error },
    );
  if ((error as ErrorShape).code === 14 || cause?.code === 14) {
    return new RuntimeError('TemporalUnavailable', 'The Temporal server does not answer. Is it running?', {
      cause: error,
    });
  }
  return error;
}

/** The namespace that the server does not have; undefined where that is not what the error says. */
function absentNamespace(error: unknown): string | undefined {
  const { name, namespace, cause } = error as ErrorShape;
  if (name === 'NamespaceNotFoundError') return namespace ?? '';
  return /\bNamespace (\S+) is not found/.exec(`${errorMessage(error)} ${errorMessage(cause)}`)?.[1];
}
