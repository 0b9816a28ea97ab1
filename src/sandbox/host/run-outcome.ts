/** The possible outcomes of a run, with the messages that its caller reads. */
import type { CodeExecutionError, CodeExecutionStatus } from '../../core/author/code-execution.ts';
import { errorMessage, isRuntimeError } from '../../core/value/error.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { memoryMessage } from '../protocol.ts';
import type { ChildEnd } from './child-end.ts';

export type Outcome =
  | { readonly status: 'success'; readonly result: unknown }
  | { readonly status: Exclude<CodeExecutionStatus, 'success'>; readonly error: CodeExecutionError };

/** npm skips an optional package whose engines do not fit the Node that npm runs on. */
export const ENGINE_ADVICE =
  'Install the dependencies of everthread again on this machine, with an npm that runs on Node 24.';

export const ENDED = 'The sandbox run that this function belongs to has ended.';

const BUSY_MESSAGE =
  `${SANDBOX_LIMITS.outsidePool} sandbox runs are nested, or held for functions of their results: there is no room ` +
  'for one more. Return data instead of functions, or wait for the others.';

export const terminatedOutcome = (message: string, name = 'Terminated'): Outcome => ({
  status: 'terminated',
  error: { name, message },
});

export const busyOutcome = (message = BUSY_MESSAGE): Outcome => terminatedOutcome(message, 'SandboxBusy');

/** The outcome if the child ended during the run. */
export function childEndOutcome(end: ChildEnd, memoryBytes: number): Outcome {
  if (end.kind === 'memory')
    return { status: 'memory', error: { name: 'MemoryError', message: memoryMessage(memoryBytes) } };
  if (end.kind === 'absent') return notLinkedOutcome(end.what);
  return crashedOutcome(`The sandbox process ended in the middle of the run: ${end.how}.`);
}

/** The outcome if a message of the child could not be processed: there is no room for it, or it is invalid. */
export function unreadableOutcome(error: unknown): Outcome {
  const message = errorMessage(error);
  if (isRuntimeError(error, 'SandboxBusy')) return busyOutcome(message);
  return crashedOutcome(`The sandbox process sent an invalid message: ${message}`);
}

export const unreadableResult = (error: unknown): Outcome => ({
  status: 'error',
  error: { name: 'SerializationError', message: errorMessage(error) },
});

/** The error message of calls of the run's functions from then on. */
export const endReason = (outcome: Outcome): string =>
  outcome.status === 'terminated' ? outcome.error.message : ENDED;

const notLinkedOutcome = (what: string): Outcome => ({
  status: 'link_error',
  error: {
    name: 'SandboxUnavailable',
    message: `No code can run here: ${what}. ${ENGINE_ADVICE}`,
  },
});

const crashedOutcome = (message: string): Outcome => ({
  status: 'error',
  error: { name: 'SandboxCrashed', message },
});
