/**
 * How a command ends: 0 done, 1 failed, 2 usage or invalid input, 3 not found or terminated (core/value/error.ts has the number of
 * each code), and how a failure is shown: its code, its message, the remedy.
 */
import type { CommanderError } from 'commander';
import { ERRORS, type ErrorCode, errorMessage, isRuntimeError } from '../core/value/error.ts';
import { escapeControls } from '../core/value/shown-text.ts';
import { commandName } from './command-name.ts';
import { note, tone } from './output/output.ts';

export const EXIT = { done: 0, failed: 1, usage: 2, notFound: 3, interrupted: 130 } as const;

/**
 * Prints what was thrown on standard error, and returns the exit code. As JSON it is one line, with what to do next if
 * that is known: `{ error: { code, message, next } }`.
 */
export function reportFailure(error: unknown, json = false): number {
  if (isCommanderError(error)) return commanderExitCode(error);
  const failure = describeFailure(error);
  if (json) note(JSON.stringify({ error: failure }));
  else {
    printFailure(failure.code, failure.message);
    if (failure.next !== undefined) note(failure.next);
  }
  if (wantsStack()) note(stackOf(error));
  return failure.code === 'Unexpected' ? EXIT.failed : ERRORS[failure.code].exit;
}

interface Failure {
  readonly code: ErrorCode | 'Unexpected';
  readonly message: string;
  /** A sentence for people. */
  readonly next?: string;
}

function describeFailure(error: unknown): Failure {
  const message = errorMessage(error);
  if (isRuntimeError(error)) {
    const { code } = error;
    // A message that names a command already contains the remedy.
    const next = message.includes(commandName()) ? undefined : NEXT_STEPS[code]?.();
    return { code, message, next };
  }
  if (isDiskFull(error))
    return {
      code: 'StoreFull',
      message: `The disk is full: ${message}. Free some space and try again.`,
    };
  if (isPathRefused(error))
    return {
      code: 'InvalidConfiguration',
      message: `A path cannot be used: ${message}. Check it, and its permissions.`,
    };
  const next = wantsStack() ? undefined : 'EVERTHREAD_LOG=debug shows the stack trace.';
  return { code: 'Unexpected', message, next };
}

/** `CODE: message` on standard error. */
export function printFailure(code: string, message: string): void {
  const separator = message.includes('\n') ? '\n' : ' ';
  note(`${tone('red', `${code}:`, process.stderr)}${separator}${escapeControls(message)}`);
}

const NEXT_STEPS: Partial<Record<ErrorCode, () => string>> = {
  ThreadNotFound: () =>
    `"${commandName()} threads list" shows the threads of this store; --project names another folder.`,
  AgentNotFound: () => `"${commandName()} validate" shows the agents of this project.`,
  InvalidDefinitions: () => `Fix these, and run "${commandName()} validate" to check.`,
};

/** Checks the shape, because commander may be another copy in tests. */
function isCommanderError(error: unknown): error is CommanderError {
  return (
    error instanceof Error &&
    'exitCode' in error &&
    'code' in error &&
    String(error.code).startsWith('commander.')
  );
}

/** True if the disk is full, for a file outside the store. */
function isDiskFull(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT';
}

const REFUSED_PATHS = ['EACCES', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'EPERM', 'EROFS'];

/** True for an error of the file system that another path, or other permissions, would mend. */
function isPathRefused(error: unknown): boolean {
  const { code, path } = (error ?? {}) as { code?: unknown; path?: unknown };
  return typeof path === 'string' && REFUSED_PATHS.includes(String(code));
}

/** Commander has printed its own message already. */
function commanderExitCode({ code, exitCode }: CommanderError): number {
  if (code === 'commander.help') return EXIT.usage;
  return exitCode === 0 ? EXIT.done : EXIT.usage;
}

function wantsStack(): boolean {
  return /^(debug|trace)\b/.test(process.env.EVERTHREAD_LOG ?? '');
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const cause =
    error.cause === undefined ? '' : `\nCaused by: ${stackOf(error.cause) || errorMessage(error.cause)}`;
  return escapeControls(`${error.stack ?? ''}${cause}`);
}
