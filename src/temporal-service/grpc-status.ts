/** What an error of a gRPC client says: an answer of the service, or that there was none. */

/** gRPC status codes that say "not reachable", not "not allowed": DEADLINE_EXCEEDED and UNAVAILABLE. */
const UNREACHABLE = [4, 14];

/** The status code of an error, or of what caused it; undefined when no service has answered. */
export function statusCode(error: unknown): number | undefined {
  for (let at = error; typeof at === 'object' && at !== null; at = (at as { cause?: unknown }).cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === 'number') return code;
  }
  return undefined;
}

/** Whether the service did not answer at all: asked again, it may. */
export function isUnreachable(error: unknown): boolean {
  const code = statusCode(error);
  return code === undefined || UNREACHABLE.includes(code);
}
