/** Failures of an MCP server, by code. Callers handle them as values: a fault of a server never ends a thread. */
import { errorMessage, readField } from '../../core/value/thrown.ts';
import { quote } from '../wall/index.ts';
import { MCP_LIMITS } from './limit.ts';

export type McpCode =
  /** The server does not start, is unreachable, or ended during the call. */
  | 'McpUnavailable'
  /** The server did not answer in time. */
  | 'McpTimeout'
  /** An answer exceeds a limit (limit.ts). */
  | 'McpTooLarge'
  /** An answer violates the protocol, or belongs to no request. */
  | 'McpInvalid'
  /** The server answered with a redirect. */
  | 'McpRedirect'
  /** The server has no such tool, or no longer has it. */
  | 'McpToolMissing'
  /** The server answered the call with an error. */
  | 'McpToolError'
  /** The server asks for an input that is not supported here. */
  | 'McpInputUnsupported';

export class McpFailure extends Error {
  readonly code: McpCode;

  constructor(code: McpCode, message: string) {
    super(message);
    this.name = 'McpFailure';
    this.code = code;
  }
}

export function isMcpFailure(error: unknown): error is McpFailure {
  return error instanceof Error && error.name === 'McpFailure' && 'code' in error;
}

/** True if the server answered with an error of the protocol: the connection is still usable. */
export function isAnswered(error: unknown): error is Error & { readonly code: number } {
  return (
    error instanceof Error &&
    typeof (error as { code?: unknown }).code === 'number' &&
    error.name !== 'SdkError'
  );
}

/** Converts an error that the protocol's library has thrown. */
export function toFailure(error: unknown): McpFailure {
  if (isMcpFailure(error)) return error;
  const [code, cause] = [readField(error, 'code'), readField(error, 'cause')];
  if (isMcpFailure(cause)) return cause;
  if (code === 'REQUEST_TIMEOUT') return new McpFailure('McpTimeout', 'It did not answer in time.');
  if (code === 'LIST_PAGINATION_EXCEEDED')
    return new McpFailure('McpTooLarge', `Its list has more than ${MCP_LIMITS.listPages} pages.`);
  if (code === 'INVALID_RESULT' || readField(error, 'name') === 'ZodError')
    return new McpFailure('McpInvalid', `It sent an invalid answer: ${quote(errorMessage(error), 300)}`);
  const deeper = cause === undefined ? '' : `: ${quote(errorMessage(cause), 200)}`;
  return new McpFailure('McpUnavailable', `${quote(errorMessage(error), 300)}${deeper}`);
}
