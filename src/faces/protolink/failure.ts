/**
 * Errors under Protolink's names: those that end a run early, and those that refuse a request about a task. Each has
 * the engine's code.
 */
import type { OwnActionResult } from '../../core/author/own-action.ts';
import { toolError } from '../../core/message/message.ts';
import { type ErrorCode, isRuntimeError, RuntimeError } from '../../core/value/error.ts';
import { definedFields } from '../../core/value/record.ts';
import type { RunEvent } from '../../projections/run/run-event.ts';
import { type ApprovalRequest, readRequest } from './approval.ts';
import { type Fields, RunAction } from './artifact.ts';

/**
 * An action was not executed: a rule denied it, or the person or program that was asked.
 * @example
 * ```ts
 * const tell = (error: unknown) => error instanceof ActionDeniedError && console.log(error.action.name, error.message);
 * ```
 */
export class ActionDeniedError extends RuntimeError {
  readonly action: RunAction;

  constructor(code: ErrorCode, message: string, action: RunAction) {
    super(code, message);
    this.action = action;
  }
}

/**
 * An action was not executed: it needs an approval, and nothing could give one.
 * @example
 * ```ts
 * const tell = (error: unknown) => error instanceof ApprovalRequiredError && console.log(error.action.capabilities);
 * ```
 */
export class ApprovalRequiredError extends ActionDeniedError {
  readonly request: ApprovalRequest;

  constructor(message: string, request: ApprovalRequest) {
    super('ApprovalRequired', message, request.action);
    this.request = request;
  }
}

/**
 * A limit of the run's budget has ended it.
 * @example
 * ```ts
 * const tell = (error: unknown) => error instanceof BudgetExceededError && console.log(error.decision.limit_name);
 * ```
 */
export class BudgetExceededError extends RuntimeError {
  /** `limit_name`, `limit`, `observed`. */
  readonly decision: Fields;

  constructor(decision: Fields) {
    super('BudgetExceeded', `The budget is used up: ${decision.limit_name} is ${decision.limit}.`);
    this.decision = decision;
  }
}

/**
 * No task with this id runs: none has begun (`ThreadNotFound`, `ExecutionNotFound`), or a cancellation came after its end
 * (`ExecutionNotCancelable`: the message says how it ended).
 * @example
 * ```ts
 * const isEarly = (error: unknown) => error instanceof TaskNotFoundError;
 * ```
 */
export class TaskNotFoundError extends RuntimeError {}

/**
 * The task has ended, and its agent has not finished reading it: `ExecutionNotCancelable`. The message says how it ended.
 * @example
 * ```ts
 * const isLate = (error: unknown) => error instanceof TaskNotCancelableError;
 * ```
 */
export class TaskNotCancelableError extends RuntimeError {}

/**
 * The same agent is running the task already: `ExecutionRunning`.
 * @example
 * ```ts
 * const isTwice = (error: unknown) => error instanceof TaskAlreadyRunningError;
 * ```
 */
export class TaskAlreadyRunningError extends RuntimeError {}

export function alreadyRunning(id: string): TaskAlreadyRunningError {
  const message = `The task "${id}" is running: await its end, or follow it with client.events("${id}", { as: "run" }).`;
  return new TaskAlreadyRunningError('ExecutionRunning', message);
}

const TASK_ERRORS: Partial<Record<ErrorCode, typeof RuntimeError>> = {
  ThreadNotFound: TaskNotFoundError,
  ExecutionNotFound: TaskNotFoundError,
  ExecutionNotCancelable: TaskNotCancelableError,
};

/** Converts an error of the client; any other error is returned unchanged. */
export function toTaskError(error: unknown): unknown {
  if (!isRuntimeError(error)) return error;
  const Known = TASK_ERRORS[error.code];
  return Known ? new Known(error.code, error.message, { cause: error }) : error;
}

/**
 * Converts the error of a cancellation. A task that has ended is found only while its agent reads it; the code and the
 * message say how it has ended.
 */
export function toCancelError(error: unknown, isActive: boolean): unknown {
  if (isActive || !isRuntimeError(error, 'ExecutionNotCancelable')) return toTaskError(error);
  return new TaskNotFoundError(error.code, error.message, { cause: error });
}

type OwnError = Extract<OwnActionResult<unknown>, { status: 'error' }>;

/** Converts the error of an action of `act` that was refused or has failed. */
export function toActionError(
  { actionId, waitId: request_id = actionId, code, error }: OwnError,
  action: RunAction,
  run_id: string,
): Error {
  const policy_decision = { effect: 'require_approval', reason: error };
  const asked = { request_id, run_id, action, policy_decision, summary: action.description };
  const empty = { fingerprint: null, expires_at: null, metadata: {} };
  if (code === 'ApprovalRequired')
    return new ApprovalRequiredError(error, { ...asked, ...empty, created_at: new Date().toISOString() });
  if (code === 'ActionDenied') return new ActionDeniedError('ActionDenied', error, action);
  return Object.assign(new Error(error), code === undefined ? {} : { code });
}

function findDenial(events: readonly RunEvent[]): ActionDeniedError | undefined {
  const denied = events.find(({ type }) => type === 'action.denied');
  if (!denied) return undefined;
  const { request, action, reason } = denied.payload;
  if (request) return new ApprovalRequiredError(String(reason), readRequest(denied));
  return new ActionDeniedError('ActionDenied', String(reason), RunAction.fromDict(action as Fields));
}

/** Returns the error of the call that a run without a model consists of. */
function findCallError(events: readonly RunEvent[]): Error | undefined {
  const asked = events.some(({ payload }) => (payload.action as Fields | undefined)?.type === 'tool_call');
  const failed = asked ? undefined : events.findLast(({ type }) => type === 'action.failed')?.payload;
  if (!failed) return undefined;
  const { error, error_code: code, uncertain, action } = failed;
  const message = toolError(String(error)) ?? String(error);
  return Object.assign(new Error(message), definedFields({ code, uncertain, action }));
}

/** Returns the error that a run has failed with, from its events. */
export function toFailure(events: readonly RunEvent[]): Error {
  const exceeded = events.find(({ type }) => type === 'budget.exceeded')?.payload.decision;
  if (exceeded) return new BudgetExceededError(exceeded as Fields);
  const { error } = (events.at(-1)?.payload.metadata ?? {}) as { error?: { code: string; message: string } };
  return (
    findDenial(events) ??
    findCallError(events) ??
    Object.assign(new Error(error?.message ?? 'The run has failed.'), error)
  );
}
