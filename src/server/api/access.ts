/**
 * Authorisation of requests.
 * - With tokens, every request must carry one: `Authorization: Bearer …`. Only digests of tokens are kept.
 * - Without tokens, anyone who reaches the port may do everything. So the server listens on loopback only, and
 *   refuses web pages in a browser on the same machine: by their `Origin`, and by a `Host` that is no name of this
 *   machine.
 */
import { hash } from 'node:crypto';
import { readTraceparent } from '../../core/governance/traceparent.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { API_SCOPES, type ApiScope, type Caller, OPERATOR } from './caller.ts';

/** Returns the caller; null refuses with 401. A thrown RuntimeError refuses with its status, all else with 500. */
export type Access = (request: Request) => Caller | null | Promise<Caller | null>;

interface KnownToken extends Caller {
  readonly digest: string;
}

const TOKEN = /^(?<token>[\w.~-]{16,256})(?:=(?<scopes>[a-z+]+))?(?:@(?<user>[^\s,]{1,200}))?$/;

/**
 * Parses `EVERTHREAD_API_TOKENS`: `TOKEN[=scope+scope][@user]`, separated by commas. A token without scopes may do
 * everything. Throws `InvalidConfiguration`, which names the token by its position.
 */
export function parseTokens(text: string): readonly KnownToken[] {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return entries.map((entry, index) => {
    const { token, scopes = 'admin', user } = TOKEN.exec(entry)?.groups ?? {};
    const place = `EVERTHREAD_API_TOKENS: token ${index + 1}`;
    if (token === undefined)
      throw invalid(
        `${place} is not TOKEN[=scope+scope][@user] with a TOKEN of 16 to 256 letters, digits and . _ ~ -`,
      );
    const named = scopes.split('+');
    const unknown = named.find((scope) => !API_SCOPES.includes(scope as ApiScope));
    if (unknown !== undefined)
      throw invalid(`${place} has the unknown scope "${unknown}": the scopes are ${API_SCOPES.join(', ')}`);
    return {
      digest: hash('sha256', token),
      name: `token ${index + 1}`,
      scopes: named as ApiScope[],
      userId: user ?? null,
    };
  });
}

/**
 * Accepts requests with one of these tokens. Throws `InvalidConfiguration`.
 * @example
 * ```ts
 * const api = createApi({ client, access: tokenAccess('0123456789abcdef0123=read+answer@ada') });
 * ```
 */
export function tokenAccess(text: string): Access {
  const known = new Map(parseTokens(text).map((token) => [token.digest, token]));
  return (request) => {
    const token = bearerOf(request);
    // The digest is compared, not the token: so timing reveals nothing about a token.
    return token === null ? null : (known.get(hash('sha256', token)) ?? null);
  };
}

/**
 * Accepts only requests with a host and an origin on this machine. Throws `Forbidden`.
 * @example
 * ```ts
 * const api = createApi({ client, access: loopbackAccess });
 * ```
 */
export const loopbackAccess: Access = (request) => {
  const host = hostOf(request.headers.get('host') ?? new URL(request.url).host);
  if (!isLoopback(host))
    throw new RuntimeError(
      'Forbidden',
      `Without tokens the server answers only this machine, and "${host}" is not a name of it: set EVERTHREAD_API_TOKENS, and send a token.`,
    );
  const origin = request.headers.get('origin');
  if (origin !== null && !isLoopback(hostOf(origin.replace(/^https?:\/\//, ''))))
    throw new RuntimeError(
      'Forbidden',
      `Without tokens only pages of this machine are allowed: set EVERTHREAD_API_TOKENS, give a token to the page, and ${origin === 'null' ? 'serve it at an address, since a page without an origin cannot be allowed' : `have ${origin} among EVERTHREAD_API_ORIGINS, or the "origins" of createApi`}.`,
    );
  return OPERATOR;
};

/** Says how a page of this origin gets permission to call the API. */
export function originRemedy(origin: string): string {
  return origin === 'null'
    ? 'A page without an origin, such as a file, cannot be allowed: serve it at an address.'
    : `Pages of "${origin}" are not allowed: set EVERTHREAD_API_ORIGINS to ${origin}, or give createApi these "origins".`;
}

/** Throws `Unauthorized`. */
/** Callers with a token may join traces; others may with `joins`. A header that is no `traceparent` is ignored. */
export function withTrace(access: Access, joins: boolean): Access {
  return async (request) => {
    const caller = await access(request);
    const header = request.headers.get('traceparent');
    const given = header !== null && readTraceparent(header) ? { traceparent: header } : {};
    return caller && { ...caller, trace: { ...given, joins: joins || caller.name !== null } };
  };
}

export async function requireCaller(access: Access, request: Request): Promise<Caller> {
  const caller = await access(request);
  if (caller) return caller;
  throw unauthorized();
}

export function unauthorized(): RuntimeError {
  return new RuntimeError('Unauthorized', 'The request needs a valid token: "Authorization: Bearer TOKEN".');
}

export function bearerOf(request: Request): string | null {
  const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? [];
  return token ?? null;
}

/** Returns a host without its port, and an IPv6 address without its brackets. */
export function hostOf(host: string): string {
  return host
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
    .toLowerCase();
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function invalid(message: string): RuntimeError {
  return new RuntimeError('InvalidConfiguration', `${message}.`);
}
