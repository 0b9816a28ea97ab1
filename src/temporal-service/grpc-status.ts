/** Classifies errors of a gRPC client: an answer of the service, or no answer. */

/** gRPC status codes that mean "not reachable", not "not allowed": DEADLINE_EXCEEDED and UNAVAILABLE. */
const UNREACHABLE = [4, 14];

/** The status code of an error or of its cause; undefined when no service responded. */
export function statusCode(error: unknown): number | undefined {
  for (let at = error; typeof at === 'object' && at !== null; at = (at as { cause?: unknown }).cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === 'number') return code;
  }
  return undefined;
}

/** Whether the service did not respond at all: a retry may succeed. */
export function isUnreachable(error: unknown): boolean {
  const code = statusCode(error);
  return code === undefined || UNREACHABLE.includes(code);
}
