/** Metadata that a sender adds to a message (definitions §15.1): JSON of the sender's own, kept as it reads back. */
import { RuntimeError } from '../value/error.ts';
import { toJsonObject } from '../value/json-value.ts';
import { LIMITS } from '../value/limit.ts';

const BOUND = { name: 'metadata', maxBytes: LIMITS.contentBytes };

/**
 * Returns a copy. Throws `InvalidMessage` if it is no object, `InvalidValue` if JSON would change it, `LimitExceeded`
 * if it is too large.
 */
export function toMetadata(given: unknown): Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new RuntimeError('InvalidMessage', "A message's metadata must be an object.");
  return toJsonObject(given, BOUND);
}
