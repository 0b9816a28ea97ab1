/** What a server of MCP can do wrong, told apart by code. A failure is a value for whoever called: nothing of a server ends a thread. */

export type McpCode =
  /** It does not start, is not there, or ended meanwhile. */
  | 'McpUnavailable'
  /** It did not answer in time. */
  | 'McpTimeout'
  /** It said more than it may. */
  | 'McpTooLarge'
  /** What it said is not what the protocol has, or not what was asked. */
  | 'McpInvalid'
  /** It sent the request somewhere else. */
  | 'McpRedirect'
  /** It has no such tool, any more. */
  | 'McpToolMissing'
  /** It answered that the call is an error. */
  | 'McpToolError'
  /** It asks for what nobody here gives. */
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

/** The server answered, with an error of the protocol: the connection is in order. */
export function isAnswered(error: unknown): error is Error & { readonly code: number } {
  return (
    error instanceof Error &&
    typeof (error as { code?: unknown }).code === 'number' &&
    error.name !== 'SdkError'
  );
}
