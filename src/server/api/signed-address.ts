/**
 * Signed URLs of files: for an `<img>`, or for a reader without a token.
 * - The signature covers the thread, the path and the expiry. A URL reads only that file, in its current version.
 * - The key is kept in the store. So every server of a store accepts the URLs of the others, also after a restart.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { Caller } from './caller.ts';
import { addressOf } from './public-address.ts';

/** The caller of a request with a valid signed URL. */
export const SIGNED_URL_CALLER: Caller = { name: 'signed address', scopes: ['read'], userId: null };

interface SignedUrl {
  readonly threadId: string;
  readonly path: string;
  /** Seconds since 1970. */
  readonly expires: number;
}

export async function signUrl(tokens: ThreadStore['tokens'], signed: SignedUrl): Promise<string> {
  const { threadId, path, expires } = signed;
  const query = new URLSearchParams({
    path,
    expires: String(expires),
    signature: sign(await tokens.signingKey(), signed),
  });
  return `/v1/threads/${threadId}/file?${query}`;
}

/** Seconds that the address of a file in an answer is valid. */
const ANSWER_SECONDS = 3600;

/** Returns what gives the files of a thread addresses in an answer: absolute, without a token, for an hour. */
export function fileAddresses(
  client: RuntimeClient,
  request: Request,
  threadId: string,
): (path: string) => Promise<string> {
  const base = addressOf(request);
  const expires = Math.floor(Date.now() / 1000) + ANSWER_SECONDS;
  return async (path) => base + (await signUrl(client.store.tokens, { threadId, path, expires }));
}

/** Returns the file that an address names; null if it is no address of a file. The signature is not checked here. */
export function parseFileAddress(text: string): Pick<SignedUrl, 'threadId' | 'path'> | null {
  // Data URLs are long, and not parsed for nothing.
  if (!/^(https?:\/)?\//.test(text) || !URL.canParse(text, HERE)) return null;
  const { pathname, searchParams } = new URL(text, HERE);
  const threadId = FILE_PLACE.exec(pathname)?.groups?.threadId;
  const path = searchParams.get('path');
  return threadId === undefined || path === null ? null : { threadId, path };
}

/** What an address without an origin is read against. */
const HERE = 'http://here';
/** Behind the path prefix of a proxy, if there is one. */
const FILE_PLACE = /\/v1\/threads\/(?<threadId>[\w.:-]+)\/file$/;

/** False if the URL has no signature. Throws `Forbidden` if the signature is invalid or has expired. */
export async function hasValidSignature(
  tokens: ThreadStore['tokens'],
  url: string,
  threadId: string,
): Promise<boolean> {
  const query = new URL(url, HERE).searchParams;
  const signature = query.get('signature');
  if (signature === null) return false;
  const [path, expires] = [query.get('path') ?? '', Number(query.get('expires'))];
  const right = Buffer.from(sign(await tokens.signingKey(), { threadId, path, expires }));
  const given = Buffer.from(signature);
  const holds = given.length === right.length && timingSafeEqual(given, right);
  if (holds && expires * 1000 > Date.now()) return true;
  throw new RuntimeError(
    'Forbidden',
    holds
      ? 'The address has expired: request a new one.'
      : 'The address was not signed by this server, or was changed.',
  );
}

/** One signature for all three. */
function sign(key: string, { threadId, path, expires }: SignedUrl): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([threadId, path, expires]))
    .digest('base64url');
}
