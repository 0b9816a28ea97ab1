/**
 * Addresses of files that carry their own permission: for an `<img>`, or for somebody without a token.
 * G1. What is signed is the thread, the path, and the end of its time: an address reads that file, as it is then, and nothing else.
 * G2. The key is the store's: every server of it knows the addresses of the others, also after a restart.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { RuntimeError } from '../../core/value/error.ts';
import type { TokenStore } from '../../store/port/token.ts';
import type { Caller } from './caller.ts';

/** Who comes with an address that holds. */
export const ADDRESSEE: Caller = { name: 'signed address', scopes: ['read'], userId: null };

interface Signed {
  readonly threadId: string;
  readonly path: string;
  /** Seconds since 1970. */
  readonly expires: number;
}

export async function signAddress(tokens: TokenStore, signed: Signed): Promise<string> {
  const { threadId, path, expires } = signed;
  const query = new URLSearchParams({
    path,
    expires: String(expires),
    signature: sign(await tokens.signingKey(), signed),
  });
  return `/v1/threads/${threadId}/file?${query}`;
}

/** False where the address is not signed at all. Throws `Forbidden` for one that does not hold. */
export async function isSigned(tokens: TokenStore, url: string, threadId: string): Promise<boolean> {
  const query = new URL(url).searchParams;
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
      ? 'The address has expired: ask for another one.'
      : 'The address was not signed by this server, or was changed.',
  );
}

/** G1: the three together. */
function sign(key: string, { threadId, path, expires }: Signed): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([threadId, path, expires]))
    .digest('base64url');
}
