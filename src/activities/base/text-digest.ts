/** The digest by which a stored answer is known to be unchanged. */
import { createHash } from 'node:crypto';

export function textDigest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
