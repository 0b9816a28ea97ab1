/**
 * Errors of backends, the catalogue and run rows, with the names of Tangle's agent-runtime page. Each has one of the
 * engine's codes.
 */
import { RuntimeError } from '../../core/value/error.ts';

/**
 * A given value is invalid. Code: `InvalidValue`.
 * @example
 * ```ts
 * const isOurs = (error: unknown) => error instanceof ValidationError;
 * ```
 */
export class ValidationError extends RuntimeError {
  constructor(message: string) {
    super('InvalidValue', message);
  }
}

/**
 * A required setting is missing. Code: `InvalidConfiguration`.
 * @example
 * ```ts
 * const isUnset = (error: unknown) => error instanceof ConfigError;
 * ```
 */
export class ConfigError extends RuntimeError {
  constructor(message: string) {
    super('InvalidConfiguration', message);
  }
}

/**
 * A run has ended already, or has not ended yet. Code: `InvalidValue`.
 * @example
 * ```ts
 * const isOver = (error: unknown) => error instanceof RuntimeRunStateError;
 * ```
 */
export class RuntimeRunStateError extends RuntimeError {
  constructor(message: string) {
    super('InvalidValue', message);
  }
}

export interface TransportFailure {
  /** Kind of the backend, or `catalogue`. */
  readonly backend: string;
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  /** The first 2 KiB of the response. */
  readonly body?: string | undefined;
}

/**
 * The server of a backend has refused a request, was unreachable, or sent an unreadable response. Code:
 * `BackendFailed`.
 * @example
 * ```ts
 * const tell = (error: unknown) => error instanceof BackendTransportError && console.log(error.status, error.body);
 * ```
 */
export class BackendTransportError extends RuntimeError implements TransportFailure {
  readonly backend: string;
  readonly status: number;
  readonly body: string | undefined;

  constructor(message: string, { backend, status, body }: TransportFailure, options?: { cause?: unknown }) {
    super('BackendFailed', message, options);
    this.backend = backend;
    this.status = status;
    this.body = body;
  }
}

/**
 * The session belongs to another kind of backend. Code: `SessionMismatch`.
 * @example
 * ```ts
 * const isAnothers = (error: unknown) => error instanceof SessionMismatchError;
 * ```
 */
export class SessionMismatchError extends RuntimeError {
  constructor(message: string) {
    super('SessionMismatch', message);
  }
}

/**
 * There is no such session. Code: `SessionNotFound`.
 * @example
 * ```ts
 * const isGone = (error: unknown) => error instanceof NotFoundError;
 * ```
 */
export class NotFoundError extends RuntimeError {
  constructor(message: string) {
    super('SessionNotFound', message);
  }
}

/**
 * This process runs an adapter under the task's id already. Code: `ExecutionRunning`.
 * @example
 * ```ts
 * const isTwice = (error: unknown) => error instanceof TaskAlreadyRunningError;
 * ```
 */
export class TaskAlreadyRunningError extends RuntimeError {
  constructor(id: string) {
    super(
      'ExecutionRunning',
      `This process runs the task "${id}" already: await its end, or follow it with client.tasks.events("${id}").`,
    );
  }
}
