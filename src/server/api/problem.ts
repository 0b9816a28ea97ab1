/** Error responses of the API: problem documents (RFC 9457), each with an error code of the runtime. */
import { ERRORS, type ErrorCode, isRuntimeError, RuntimeError } from '../../core/value/error.ts';

/** `application/problem+json`. */
export interface Problem {
  /** Names the kind of problem: `urn:everthread:error:<code>`. */
  readonly type: string;
  /** The code, in words. */
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode | 'InternalError';
  /** What happened, to which id, and what to do next. */
  readonly detail: string;
}

/** Answer to an internal fault, whose text callers must not see. */
const INTERNAL_ERROR: Problem = {
  type: 'urn:everthread:error:InternalError',
  title: 'Internal error',
  status: 500,
  code: 'InternalError',
  detail: 'The request could not be served. The log of the server has the reason.',
};

export function toProblem(error: unknown): Problem {
  if (!isRuntimeError(error)) return INTERNAL_ERROR;
  const { code, message } = error;
  return {
    type: `urn:everthread:error:${code}`,
    title: toWords(code),
    status: ERRORS[code].status,
    code,
    detail: message,
  };
}

export function problemResponse(problem: Problem, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { 'content-type': 'application/problem+json', ...SAFE_HEADERS, ...headers },
  });
}

/** Headers of every answer: no caching, and no guessing of content types. */
export const SAFE_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const;

export function jsonResponse(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json(value, { status, headers: { ...SAFE_HEADERS, ...headers } });
}

/** Throws `InvalidRequest`. */
export function refuseRequest(detail: string): never {
  throw new RuntimeError('InvalidRequest', detail);
}

/** What a schema refuses. */
export interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** The issues with each form of a union. */
  readonly errors?: readonly (readonly Issue[])[];
}

/** The issues with the form of a union that fits best: the union itself says nothing. */
function bestFit({ path, message, errors = [] }: Issue): readonly Issue[] {
  const [best = []] = errors.toSorted((one, other) => one.length - other.length);
  if (best.length === 0) return [{ path, message }];
  return best.flatMap(bestFit).map((each) => ({ ...each, path: [...path, ...each.path] }));
}

/** Names what is wrong, and where: `place` if it is the whole. */
export function describeIssues(issues: readonly Issue[], place: string): string {
  const problems = issues
    .flatMap(bestFit)
    .slice(0, 10)
    .map(({ path, message }) => `${path.map(String).join('.') || place}: ${message}`);
  return problems.join('; ');
}

export function tooLarge(mostBytes: number): RuntimeError {
  return new RuntimeError('RequestTooLarge', `The body of a request can have at most ${mostBytes} bytes.`);
}

/** Converts a code to words: `ThreadNotFound` to "Thread not found". */
function toWords(code: string): string {
  const words = code.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words;
}
