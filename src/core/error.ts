/**
 * The one table of codes that callers may meet, and the one error class that carries them.
 * A code's row says how each edge answers it: CLI exit code and (for the HTTP API) status.
 * Errors are recognised by shape, never by instanceof: Node, the workflow VM and Jest are different realms.
 */

import { readField } from './thrown.ts';

export { errorMessage } from './thrown.ts';

export const ERRORS = {
  ThreadTerminated: { exit: 3, status: 410 },
  ThreadNotFound: { exit: 3, status: 404 },
  InvalidMessage: { exit: 2, status: 400 },
  MessageTooLarge: { exit: 2, status: 413 },
  InvalidStart: { exit: 2, status: 400 },
  AgentNotFound: { exit: 3, status: 404 },
  StoreMismatch: { exit: 1, status: 500 },
  MissingVariable: { exit: 1, status: 409 },
  /** No subagent waits for variables under this id. */
  VariableRequestNotFound: { exit: 3, status: 404 },
  /** A request for variables serves once; the message names the thread that it has become. */
  VariableRequestUsed: { exit: 1, status: 409 },
  /** A variable's name, value or type cannot be stored. */
  InvalidVariable: { exit: 2, status: 400 },
  ContextNotSerializable: { exit: 1, status: 500 },
  SandboxBusy: { exit: 1, status: 503 },
  /** A value, or a key to keep it under, that cannot be stored: not JSON, or no text that a database can hold. */
  InvalidValue: { exit: 2, status: 400 },
  /** The path of a file that cannot be one. */
  InvalidPath: { exit: 2, status: 400 },
  /** One of the caps of docs/operations.md; the message names it. */
  LimitExceeded: { exit: 2, status: 413 },
  /** A file where a directory must be, a directory where a file must be, or one that is not empty. */
  FileConflict: { exit: 1, status: 409 },
  FileNotFound: { exit: 3, status: 404 },
  MessageNotFound: { exit: 3, status: 404 },
  /** A message that cannot be changed or removed now. */
  MessageConflict: { exit: 1, status: 409 },
  EffectNotFound: { exit: 3, status: 404 },
  /** A model, prompt, agent or tool that the project does not define. */
  DefinitionNotFound: { exit: 3, status: 404 },
  /** The definitions of a project have problems; each is named. */
  InvalidDefinitions: { exit: 2, status: 500 },
  /** A setting (environment variable, option) cannot be used. */
  InvalidConfiguration: { exit: 2, status: 500 },
  /** The database server of the store does not answer. */
  StoreUnavailable: { exit: 1, status: 503 },
  /** The disk of the store has no room. It heals by itself once there is some. */
  StoreFull: { exit: 1, status: 507 },
  /** The files of the store were removed or replaced while they were open: what is written to them is lost. */
  StoreLost: { exit: 1, status: 500 },
  /** The files of the store cannot be read as what they were. */
  StoreCorrupt: { exit: 1, status: 500 },
  /** The Temporal service cannot be reached or does not answer as asked. */
  TemporalUnavailable: { exit: 1, status: 503 },
  /** Code of an author called what would end or change the process that it shares with every other thread. */
  ProcessCallRefused: { exit: 1, status: 500 },
  /** Work of an author that has taken its worker process down so often that it is not tried again. */
  WorkerCrashed: { exit: 1, status: 500 },
  /** Something was waited for and did not come within its deadline. */
  Timeout: { exit: 1, status: 504 },
} as const satisfies Record<string, { exit: number; status: number }>;

export type ErrorCode = keyof typeof ERRORS;

/** A refusal or a fault with a code. `message` says what happened, to which id, and what to do next. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

export function isRuntimeError(error: unknown, code?: ErrorCode): error is RuntimeError {
  if (readField(error, 'name') !== 'RuntimeError') return false;
  const found = readField(error, 'code');
  return code === undefined ? typeof found === 'string' && Object.hasOwn(ERRORS, found) : found === code;
}

/** The store cannot be used now and may be later; whoever can wait does. Nothing is wrong with what was asked. */
export function isStoreAway(error: unknown): boolean {
  return isRuntimeError(error, 'StoreUnavailable') || isRuntimeError(error, 'StoreFull');
}

/** The store's own trouble, of any kind: no answer to what was asked, and never a thread's failure. */
export function isStoreTrouble(error: unknown): boolean {
  return isStoreAway(error) || isRuntimeError(error, 'StoreLost') || isRuntimeError(error, 'StoreCorrupt');
}

/** Ends a switch over a union: the compiler refuses it when a member was forgotten. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}
