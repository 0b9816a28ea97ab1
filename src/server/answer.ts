/** Responses of the server itself: refusals and failures, as `{ error, code? }`. */
import { ERRORS, errorMessage, isRuntimeError } from '../core/value/error.ts';

export interface ErrorAnswer {
  readonly status: number;
  readonly error: string;
  readonly code?: string;
}

export function toResponse(
  { status, error, code }: ErrorAnswer,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ error, ...(code === undefined ? {} : { code }) }, { status, headers });
}

/** Converts a thrown value, without its stack. A RuntimeError has its own status; anything else is 500. */
export function toErrorAnswer(error: unknown): ErrorAnswer {
  if (isRuntimeError(error)) {
    return { status: ERRORS[error.code].status, error: error.message, code: error.code };
  }
  return { status: 500, error: errorMessage(error) };
}

/** Checks by shape: author code may return the Response of another realm or package. */
export function requireResponse(endpoint: string, value: unknown): Response {
  if (isResponse(value)) return value;
  throw new Error(
    `The endpoint "${endpoint}" did not return a Response: it must return one, such as Response.json(…).`,
  );
}

function isResponse(value: unknown): value is Response {
  if (typeof value !== 'object' || value === null) return false;
  const { status, headers, arrayBuffer } = value as Partial<Response>;
  const sendable = typeof status === 'number' && status >= 200 && status <= 599;
  return sendable && typeof headers?.get === 'function' && typeof arrayBuffer === 'function';
}

/** HEAD is GET without its body (RFC 9110 §9.3.2). */
export function withoutBody(response: Response): Response {
  const { status, statusText, headers } = response;
  discardBody(response);
  return new Response(null, { status, statusText, headers });
}

/** Releases what a body holds, such as a file being read. */
export function discardBody(response: Response): void {
  response.body?.cancel().catch(() => undefined);
}
