/**
 * The one table of error codes that callers can meet, and the one error class that carries them.
 * A code's row says how each edge reports it: CLI exit code and (for the HTTP API) status.
 * Errors are recognised by shape, never by instanceof: Node, the workflow VM and Jest are different realms.
 */

import { readField } from './thrown.ts';

export { errorMessage } from './thrown.ts';

export const ERRORS = {
  ThreadTerminated: { exit: 3, status: 410 },
  ThreadNotFound: { exit: 3, status: 404 },
  /** The thread has no such execution, or none at all. */
  ExecutionNotFound: { exit: 3, status: 404 },
  /** The execution has ended; nothing is left to cancel. */
  ExecutionNotCancelable: { exit: 1, status: 409 },
  /** The execution was begun before, and is still running. */
  ExecutionRunning: { exit: 1, status: 409 },
  InvalidMessage: { exit: 2, status: 400 },
  MessageTooLarge: { exit: 2, status: 413 },
  /** Content came by a signal to a worker that takes only stored content. */
  ContentRefused: { exit: 2, status: 403 },
  InvalidStart: { exit: 2, status: 400 },
  AgentNotFound: { exit: 3, status: 404 },
  StoreMismatch: { exit: 1, status: 500 },
  MissingVariable: { exit: 1, status: 409 },
  /** The answers of an execution did not fit its `output` schema, however often the model was asked again. */
  OutputInvalid: { exit: 1, status: 422 },
  /** The answer waits for people, and its client can only read JSON; the message has what they are asked. */
  InputRequired: { exit: 1, status: 422 },
  /** The schema that a sender gives for an answer cannot be used; the message says why. */
  InvalidSchema: { exit: 2, status: 400 },
  /** No subagent waits for variables under this id. */
  VariableRequestNotFound: { exit: 3, status: 404 },
  /** A request for variables can be answered once; the message names the thread that the answer created. */
  VariableRequestUsed: { exit: 1, status: 409 },
  /** A variable's name, value or type cannot be stored. */
  InvalidVariable: { exit: 2, status: 400 },
  SandboxBusy: { exit: 1, status: 503 },
  /** A value, or its key, cannot be stored: not JSON, or text that a database cannot hold. */
  InvalidValue: { exit: 2, status: 400 },
  /** Code of one thread asked for values of another: each thread's are its own (runtime §14.1.3). */
  ValuesNotShared: { exit: 1, status: 403 },
  /** A tool that says `parallel` called what would change its thread. */
  ReadOnlyTool: { exit: 1, status: 409 },
  /** Not a valid path of a file. */
  InvalidPath: { exit: 2, status: 400 },
  /** A limit of docs/operations.md was exceeded; the message names it. */
  LimitExceeded: { exit: 2, status: 413 },
  /** A file where a directory is expected, a directory where a file is expected, or a directory that is not empty. */
  FileConflict: { exit: 1, status: 409 },
  FileNotFound: { exit: 3, status: 404 },
  MessageNotFound: { exit: 3, status: 404 },
  /** The message cannot be changed or removed in its present state. */
  MessageConflict: { exit: 1, status: 409 },
  /** A part of the history cannot be superseded while the outcome of an action in it is unknown; the message names the actions. */
  OutcomeUnknown: { exit: 1, status: 409 },
  EffectNotFound: { exit: 3, status: 404 },
  /** The thread has no model call with this id. */
  ModelCallNotFound: { exit: 3, status: 404 },
  /** The request of a model call was not kept, or not until now. */
  RequestRemoved: { exit: 3, status: 410 },
  /** A model, prompt, agent or tool that the project does not define. */
  DefinitionNotFound: { exit: 3, status: 404 },
  /** The definitions of a project have problems; the message lists them. */
  InvalidDefinitions: { exit: 2, status: 500 },
  /** A setting (environment variable, option) cannot be used. */
  InvalidConfiguration: { exit: 2, status: 500 },
  /** The database server of the store does not respond. */
  StoreUnavailable: { exit: 1, status: 503 },
  /** The disk of the store is full. Recovers by itself once there is space. */
  StoreFull: { exit: 1, status: 507 },
  /** The store's files were removed or replaced while they were open: writes to them are lost. */
  StoreLost: { exit: 1, status: 500 },
  /** The store's files are corrupt or belong to another program. */
  StoreCorrupt: { exit: 1, status: 500 },
  /** The Temporal service cannot be reached or fails a request. */
  TemporalUnavailable: { exit: 1, status: 503 },
  /** The call needs an approval, and there is no way to ask for one; no part of the call was executed. */
  ApprovalRequired: { exit: 1, status: 409 },
  ActionNotFound: { exit: 3, status: 404 },
  GrantNotFound: { exit: 3, status: 404 },
  /** Only an action whose outcome is unknown can be reconciled, and only once. */
  ActionNotUncertain: { exit: 1, status: 409 },
  /** Author code called something that would end or change the process that it shares with every other thread. */
  ProcessCallRefused: { exit: 1, status: 500 },
  /** Author code has taken its worker process down so often that it is not tried again. */
  WorkerCrashed: { exit: 1, status: 500 },
  /** A person, or a rule, denied the action. */
  ActionDenied: { exit: 1, status: 403 },
  /** The thread has another message or call under this id. */
  ItemConflict: { exit: 1, status: 409 },
  /** The id of an execution is taken by another item. */
  ExecutionConflict: { exit: 1, status: 409 },
  /** There is no task with this id, or none of this name in agents/tasks. */
  TaskNotFound: { exit: 3, status: 404 },
  /** There is no session of a backend with this id, or it belongs to another owner. */
  SessionNotFound: { exit: 3, status: 404 },
  /** The session belongs to another kind of backend. */
  SessionMismatch: { exit: 1, status: 409 },
  /** There is no wait with this id. */
  WaitNotFound: { exit: 3, status: 404 },
  /** A limit of an execution's budget is used up; the message names it. The thread lives on: another message begins a new execution. */
  BudgetExceeded: { exit: 1, status: 409 },
  /**
   * The calls of a model form a loop; the message names the detector. The thread lives on: another message begins a new
   * execution.
   */
  LoopDetected: { exit: 1, status: 409 },
  /** A turn has used up its rounds. The thread lives on: another message begins a new execution. */
  RoundsExhausted: { exit: 1, status: 409 },
  /**
   * Too many calls of a model have failed in a row, and the request for help was refused. The thread lives on: another
   * message begins a new execution.
   */
  HelpRefused: { exit: 1, status: 409 },
  /** The path, query or body of a request is invalid. The message names the field. */
  InvalidRequest: { exit: 2, status: 400 },
  /** The body of a request is not JSON in UTF-8, by its headers. */
  UnsupportedMediaType: { exit: 2, status: 415 },
  /** A range of bytes that a file does not have. */
  InvalidRange: { exit: 2, status: 416 },
  /** The cursor is beyond the end of its log. */
  InvalidCursor: { exit: 2, status: 400 },
  /** No route of the server has this path. */
  RouteNotFound: { exit: 3, status: 404 },
  /** The path exists, but does not support this method. */
  MethodNotAllowed: { exit: 2, status: 405 },
  /** The request carries no known token. */
  Unauthorized: { exit: 1, status: 401 },
  /** There is no token with this id. */
  TokenNotFound: { exit: 3, status: 404 },
  /** The caller may not do this. */
  Forbidden: { exit: 1, status: 403 },
  /** The thread is working, and the message was to be accepted only at rest. */
  ThreadBusy: { exit: 1, status: 409 },
  /** The body of a request is larger than the server accepts. */
  RequestTooLarge: { exit: 2, status: 413 },
  /** The maximum number of streams is already open. */
  TooManyStreams: { exit: 1, status: 503 },
  /** No API responds at the client's address. For a command, the message says whether it may have been executed. */
  ServerUnavailable: { exit: 1, status: 503 },
  /** A backend's server refused or was unreachable; the message names its status. */
  BackendFailed: { exit: 1, status: 502 },
  /** The process that alone could go on with an execution was lost. The thread lives on: another message begins a new execution. */
  ProducerLost: { exit: 1, status: 503 },
  /** The server is closing. */
  ServerClosing: { exit: 1, status: 503 },
  /** Something did not arrive before its deadline. */
  Timeout: { exit: 1, status: 504 },
} as const satisfies Record<string, { exit: number; status: number }>;

export type ErrorCode = keyof typeof ERRORS;

/**
 * A refusal or a fault with a code. `message` says what happened, to which id, and what to do next.
 * @example
 * ```ts
 * throw new RuntimeError('InvalidValue', 'The order "x" has no number: write one like 4711.');
 * ```
 */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/**
 * True if `error` is an error of this package, with `code` if given, from any realm or copy of the package.
 * @example
 * ```ts
 * try {
 *   await client.queueMessage(threadId, { content: 'hello' });
 * } catch (error) {
 *   if (!isRuntimeError(error, 'ThreadTerminated')) throw error;
 * }
 * ```
 */
export function isRuntimeError(error: unknown, code?: ErrorCode): error is RuntimeError {
  if (readField(error, 'name') !== 'RuntimeError') return false;
  const found = readField(error, 'code');
  return code === undefined ? typeof found === 'string' && Object.hasOwn(ERRORS, found) : found === code;
}

/** The store is unavailable now and may recover; callers that can wait do. The request itself is fine. */
export function isStoreUnavailable(error: unknown): boolean {
  return isRuntimeError(error, 'StoreUnavailable') || isRuntimeError(error, 'StoreFull');
}

/** A fault of the store itself, of any kind; never a reason to fail a thread. */
export function isStoreFault(error: unknown): boolean {
  return (
    isStoreUnavailable(error) || isRuntimeError(error, 'StoreLost') || isRuntimeError(error, 'StoreCorrupt')
  );
}

/** Ends a switch over a union: the compiler reports a member that was forgotten. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}
