/** Failures of an MCP server, by code. Callers handle them as values: a fault of a server never ends a thread. */

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
