/** What a sender may say beside a message's text (definitions §15.1): JSON of its own, kept as it reads back. */
import { RuntimeError } from '../value/error.ts';
import { toJsonObject } from '../value/json-value.ts';
import { LIMITS } from '../value/limit.ts';

const BOUND = { name: 'metadata', maxBytes: LIMITS.contentBytes };

/** A copy. Throws `InvalidMessage` for what is no object, `InvalidValue` for what JSON would change, `LimitExceeded`. */
export function toMetadata(given: unknown): Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new RuntimeError('InvalidMessage', "A message's metadata must be an object.");
  return toJsonObject(given, BOUND);
}
