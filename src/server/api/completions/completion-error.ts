/** Error responses in OpenAI's shape, with the codes and statuses of the rest of the API. */
import { z } from '@hono/zod-openapi';
import type { StoredError } from '../../../core/thread/step.ts';
import { type Problem, SAFE_HEADERS } from '../problem.ts';

export const completionError = z
  .object({
    error: z.object({ message: z.string(), type: z.string(), param: z.null(), code: z.string() }),
  })
  .openapi('CompletionError');

const TYPES: Readonly<Record<number, string>> = { 401: 'authentication_error', 403: 'permission_error' };

/** True for paths whose error responses have this shape. */
export function isCompletionPath(pathname: string): boolean {
  return pathname.startsWith('/v1/chat/') || pathname === '/v1/models' || pathname.startsWith('/v1/models/');
}

export function toCompletionError({ code, message }: StoredError, status: number) {
  const type = TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  return { error: { message, type, param: null, code } };
}

export function completionProblem(
  { code, detail, status }: Pick<Problem, 'code' | 'detail' | 'status'>,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = toCompletionError({ code, message: detail }, status);
  return Response.json(body, { status, headers: { ...SAFE_HEADERS, ...headers } });
}
