/**
 * Who may come in.
 * A1. With tokens, every request carries one: `Authorization: Bearer …`. A token is known by its digest alone.
 * A2. Without tokens whoever reaches the port may do everything. So it listens on loopback alone, and a page of the web that a browser on the
 *     same machine has open is refused: by its `Origin`, and by a `Host` that is no name of this machine.
 */
import { createHash } from 'node:crypto';
import { RuntimeError } from '../../core/value/error.ts';
import { API_SCOPES, type ApiScope, type Caller, OPERATOR } from './caller.ts';

/** Answers who asks; null refuses with 401. What it throws is a fault. */
export type Access = (request: Request) => Caller | null | Promise<Caller | null>;

interface KnownToken extends Caller {
  readonly digest: string;
}

const TOKEN = /^(?<token>[\w.~-]{16,256})(?:=(?<scopes>[a-z+]+))?(?:@(?<user>[^\s,]{1,200}))?$/;

/**
 * `EVERTHREAD_API_TOKENS`: `TOKEN[=scope+scope][@user]`, separated by commas. Without scopes a token may do everything. Throws
 * `InvalidConfiguration`, which names the token by its place.
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
      throw invalid(`${place} has the scope "${unknown}": there are ${API_SCOPES.join(', ')}`);
    return {
      digest: digestOf(token),
      name: `token ${index + 1}`,
      scopes: named as ApiScope[],
      userId: user ?? null,
    };
  });
}

/**
 * A1: knows these tokens. Throws `InvalidConfiguration`.
 * @example
 * ```ts
 * const api = createApi({ client, access: tokenAccess('0123456789abcdef0123=read+answer@ada') });
 * ```
 */
export function tokenAccess(text: string): Access {
  const known = new Map(parseTokens(text).map((token) => [token.digest, token]));
  return (request) => {
    const token = bearerOf(request);
    // The digest is compared, not the token: how long that takes tells nothing of it.
    return token === null ? null : (known.get(digestOf(token)) ?? null);
  };
}

/**
 * A2: this machine alone. Throws `Forbidden`.
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
      `Without tokens the server answers this machine alone, and "${host}" is no name of it. Set EVERTHREAD_API_TOKENS.`,
    );
  const origin = request.headers.get('origin');
  if (origin !== null && !isLoopback(hostOf(origin.replace(/^https?:\/\//, ''))))
    throw new RuntimeError(
      'Forbidden',
      `Without tokens a page of "${origin}" may not ask: set EVERTHREAD_API_TOKENS, and give the page one.`,
    );
  return OPERATOR;
};

export function bearerOf(request: Request): string | null {
  const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? [];
  return token ?? null;
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Without its port; an IPv6 address without its brackets. */
function hostOf(host: string): string {
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
