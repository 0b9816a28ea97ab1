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
  return (
    /^\/v1\/(chat|models)\//.test(pathname) || pathname === '/v1/models' || OTHER_APIS.includes(pathname)
  );
}

/** Other APIs of OpenAI, which its clients may choose by themselves. */
const OTHER_APIS: readonly string[] = ['/v1/responses', '/v1/completions', '/v1/embeddings'];

/** What to do instead; undefined for other paths. */
export function adviceFor(pathname: string): string | undefined {
  if (!OTHER_APIS.includes(pathname)) return undefined;
  return `${pathname} is not served: use Chat Completions, /v1/chat/completions; with the AI SDK, openai.chat("AGENT").`;
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
  // OpenAI's clients retry a 409 by themselves; a conflict stays one.
  const advice = status === 409 ? { 'x-should-retry': 'false' } : {};
  return Response.json(body, { status, headers: { ...SAFE_HEADERS, ...advice, ...headers } });
}
