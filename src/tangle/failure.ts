/** What a backend, the catalogue and a run row refuse with, as errors with the page's names. Each has one of the engine's codes. */
import { RuntimeError } from '../core/value/error.ts';

/**
 * Something given cannot be used: `InvalidValue`.
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
 * A required setting is blank: `InvalidConfiguration`.
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
 * A run has ended, or has not: `InvalidValue`.
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
  /** Its kind, or `catalogue`. */
  readonly backend: string;
  /** Of HTTP; 0 where no answer came. */
  readonly status: number;
  /** Its first 2 KiB. */
  readonly body?: string | undefined;
}

/**
 * The server of a backend has refused or was not there: `BackendFailed`.
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
 * The session is one of another kind of backend: `SessionMismatch`.
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
 * There is no such session: `SessionNotFound`.
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
