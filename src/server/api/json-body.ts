/**
 * Checks that a body is JSON before it is read. A body of another type is refused, not guessed: a page of another origin
 * may send `text/plain` without being asked for permission.
 */
import { RuntimeError } from '../../core/value/error.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import { refuseRequest } from './problem.ts';

/** `application/json`, and types that are JSON by their name, such as `application/a2a+json`. */
const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)/i;

/** Throws `UnsupportedMediaType`. A request without a body passes. */
export function requireJson({ headers }: Pick<Request, 'headers'>): void {
  if (!hasBody(headers)) return;
  const type = headers.get('content-type') ?? '';
  const charset = CHARSET.exec(type)?.[1] ?? 'utf-8';
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (!JSON_TYPE.test(type))
    throw unsupported(`The Content-Type of the body is "${type}": send JSON, as application/json.`);
  if (!/^utf-?8$/i.test(charset))
    throw unsupported(`The charset of the body is "${charset}": send JSON in UTF-8.`);
  if (!/^identity$/i.test(encoding))
    throw unsupported(`The Content-Encoding of the body is "${encoding}": send it as it is.`);
}

/** By its headers: a request made by a program has no length, but a type. */
function hasBody(headers: Headers): boolean {
  const bytes = Number(headers.get('content-length') ?? 0);
  return bytes > 0 || headers.has('transfer-encoding') || headers.has('content-type');
}

function unsupported(detail: string): RuntimeError {
  return new RuntimeError('UnsupportedMediaType', detail);
}

/** Throws `UnsupportedMediaType`, `InvalidRequest`. */
export function requireBody(request: Request, { required = false }: { readonly required?: boolean }): void {
  requireJson(request);
  if (required && !hasBody(request.headers)) refuseRequest('The request has no body: send JSON.');
}

/** Faults of the sender keep a status below 500, also those that hono throws. */
export function toOwnError(error: unknown): unknown {
  const { status } = (error ?? {}) as { readonly status?: unknown };
  if (error instanceof RuntimeError || typeof status !== 'number' || status < 400 || status >= 500)
    return error;
  return new RuntimeError(
    'InvalidRequest',
    status === 400 ? 'The body is not valid JSON.' : `The request cannot be read: ${errorMessage(error)}.`,
  );
}
