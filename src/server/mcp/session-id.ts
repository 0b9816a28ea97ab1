/**
 * Clients of versions up to 2025-11-25 say once what they can, and nothing is kept between requests here. So whoever shows forms is given an id of a session
 * that says so, and sends it along. It gives no right.
 */
import { randomUUID } from 'node:crypto';
import { isRecord } from '../../core/value/record.ts';

const HEADER = 'mcp-session-id';
const FORMS = 'forms-';

/** The id for a client that begins with this request, and shows forms. */
export async function sessionOf(request: Request): Promise<string | undefined> {
  if (request.method !== 'POST' || request.headers.has(HEADER)) return undefined;
  const body: unknown = await request
    .clone()
    .json()
    .catch(() => undefined);
  if (!isRecord(body) || body.method !== 'initialize' || !isRecord(body.params)) return undefined;
  return showsForms(body.params.capabilities) ? `${FORMS}${randomUUID()}` : undefined;
}

export function isOfForms(request: Request): boolean {
  return request.headers.get(HEADER)?.startsWith(FORMS) === true;
}

/** `elicitation: {}` is of the time when there were forms alone. */
export function showsForms(capabilities: unknown): boolean {
  const elicitation = isRecord(capabilities) ? capabilities.elicitation : undefined;
  return isRecord(elicitation) && (elicitation.form !== undefined || elicitation.url === undefined);
}
