/** The header `Idempotency-Key`: a message that is sent again under the same key is the same message. */
import { toItemId } from './conversation/conversation.ts';
import { refuseRequest } from './problem.ts';

const MAX_CHARS = 255;

export interface IdempotencyKey {
  readonly given: string;
  /** The id of the message: the key, or one that is derived from a longer key. */
  readonly id: string;
}

/** Throws `InvalidRequest`. */
export function readIdempotencyKey(headers: Headers): IdempotencyKey | null {
  const given = headers.get('idempotency-key');
  if (given === null) return null;
  if (given === '' || given.length > MAX_CHARS)
    refuseRequest(`Idempotency-Key: must have 1 to ${MAX_CHARS} characters, not ${given.length}.`);
  return { given, id: toItemId(given, 'key') };
}
