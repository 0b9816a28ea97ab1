/**
 * Clients of protocol versions up to 2025-11-25 declare their capabilities only once, and no state is kept between
 * requests here. So a client that can show forms receives a session id that says so, and sends it with each request.
 * The id grants no rights.
 */
import { randomUUID } from 'node:crypto';
import { isRecord } from '../../core/value/record.ts';

const SESSION_HEADER = 'mcp-session-id';
const FORM_SESSION_PREFIX = 'forms-';

/** Returns a session id if this request initialises a client that can show forms. */
export async function sessionOf(request: Request): Promise<string | undefined> {
  if (request.method !== 'POST' || request.headers.has(SESSION_HEADER)) return undefined;
  const body: unknown = await request
    .clone()
    .json()
    .catch(() => undefined);
  if (!isRecord(body) || body.method !== 'initialize' || !isRecord(body.params)) return undefined;
  return showsForms(body.params.capabilities) ? `${FORM_SESSION_PREFIX}${randomUUID()}` : undefined;
}

export function isFormSession(request: Request): boolean {
  return request.headers.get(SESSION_HEADER)?.startsWith(FORM_SESSION_PREFIX) === true;
}

/** True if the client can show forms. `elicitation: {}` counts: it dates from when forms were the only kind. */
export function showsForms(capabilities: unknown): boolean {
  const elicitation = isRecord(capabilities) ? capabilities.elicitation : undefined;
  return isRecord(elicitation) && (elicitation.form !== undefined || elicitation.url === undefined);
}
