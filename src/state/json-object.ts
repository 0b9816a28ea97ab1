/**
 * Objects that code hands over to be stored: checked where they are handed over. What cannot be kept must not be found out by the
 * commit, when the code has run and its caller can no longer be told.
 */
import { RuntimeError } from '../core/value/error.ts';
import { type JsonBound, toJsonText } from '../core/value/json-value.ts';

/**
 * The object as it reads back. Throws `InvalidValue` for what is no object, and with the place of what JSON would change;
 * `LimitExceeded` beyond `maxBytes`.
 */
export function toJsonObject(value: unknown, bound: JsonBound): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RuntimeError('InvalidValue', `${bound.name} must be an object.`);
  return JSON.parse(toJsonText(value, bound)) as Record<string, unknown>;
}
