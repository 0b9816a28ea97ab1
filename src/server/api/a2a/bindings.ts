/** The two bindings of A2A: JSON-RPC, where each call is a POST to the agent's URL, and REST, with a URL per call. */
import type { Caller } from '../caller.ts';
import type { ApiHost } from '../host.ts';
import { requireJson } from '../json-body.ts';
import { SAFE_HEADERS } from '../problem.ts';
import { A2A_CALLS } from './a2a-calls.ts';
import { A2aRefusal, toA2aError } from './a2a-error.ts';
import { A2A_VERSION } from './agent-card.ts';

export interface A2aRequest {
  readonly host: ApiHost;
  readonly request: Request;
  readonly caller: Caller;
  readonly agent: string;
}

const JSON_TYPE = 'application/json';
const REST_TYPE = 'application/a2a+json';

/** Errors of A2A are answered as JSON-RPC errors, with status 200; all others are thrown. */
export async function answerRpc({ request, ...calling }: A2aRequest): Promise<Response> {
  let id: RpcId = null;
  requireJson(request);
  try {
    const asked = readRpc(await request.text());
    id = asked.id;
    requireVersion(request);
    const call = Object.hasOwn(A2A_CALLS, asked.method) ? A2A_CALLS[asked.method] : undefined;
    if (!call)
      throw new A2aRefusal('METHOD_NOT_FOUND', `There is no method ${JSON.stringify(asked.method)}.`);
    const wrap = (result: unknown) => ({ jsonrpc: '2.0', id, result });
    return await call({ ...calling, request, params: asked.params, type: JSON_TYPE, wrap });
  } catch (error) {
    const known = toA2aError(error);
    if (!known) throw error;
    const { code, message, details: data } = known;
    return jsonOf({ jsonrpc: '2.0', id, error: { code, message, data } }, 200, JSON_TYPE);
  }
}

/** Like `answerRpc`, for the call of this name; errors of A2A have their HTTP status. */
export async function answerRest(
  method: string,
  given: object,
  { request, ...calling }: A2aRequest,
): Promise<Response> {
  requireJson(request);
  try {
    requireVersion(request);
    const call = A2A_CALLS[method];
    if (!call) throw new A2aRefusal('METHOD_NOT_FOUND', `There is no method ${JSON.stringify(method)}.`);
    const params = { ...(await readBody(request)), ...given };
    return await call({ ...calling, request, params, type: REST_TYPE, wrap: (answer) => answer });
  } catch (error) {
    const known = toA2aError(error);
    if (!known) throw error;
    const { status: code, reason: status, message, details } = known;
    return jsonOf({ error: { code, status, message, details } }, code, REST_TYPE);
  }
}

type RpcId = string | number | null;

function readRpc(text: string): { readonly id: RpcId; readonly method: string; readonly params: unknown } {
  const given = parse(text);
  const { jsonrpc, id, method, params } = (given ?? {}) as Readonly<Record<string, unknown>>;
  const isId = typeof id === 'string' || typeof id === 'number';
  if (jsonrpc !== '2.0' || !isId || typeof method !== 'string')
    throw new A2aRefusal('INVALID_REQUEST', 'A request must have "jsonrpc": "2.0", an "id" and a "method".');
  return { id, method, params };
}

async function readBody(request: Request): Promise<object> {
  const text = request.method === 'POST' ? await request.text() : '';
  const given = text === '' ? {} : parse(text);
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given;
  throw new A2aRefusal('INVALID_REQUEST', 'The body must be an object.');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new A2aRefusal('PARSE_ERROR', 'The body is not valid JSON.');
  }
}

/** A request without a version counts as one of 0.3. */
function requireVersion({ url, headers }: Request): void {
  const version = headers.get('a2a-version') ?? new URL(url).searchParams.get('A2A-Version') ?? '0.3';
  if (/^1\.\d+$/.test(version)) return;
  throw new A2aRefusal(
    'VERSION_NOT_SUPPORTED',
    `A2A ${version.slice(0, 20)} is not supported: send the header "A2A-Version: ${A2A_VERSION}".`,
  );
}

function jsonOf(value: unknown, status: number, type: string): Response {
  return new Response(JSON.stringify(value), { status, headers: { 'content-type': type, ...SAFE_HEADERS } });
}
