/** Checks the context of a run that a client gives, before anything is stored or sent. */
import { parseContext } from '../core/governance/given-context.ts';
import type { GivenContext } from '../core/governance/run-context.ts';
import { type ErrorCode, RuntimeError } from '../core/value/error.ts';
import { toJsonObject } from '../core/value/json-value.ts';
import { LIMITS } from '../core/value/limit.ts';

/**
 * Returns a copy. Throws `code` naming the invalid field, `InvalidValue` for a value that JSON would change,
 * `LimitExceeded` above 8 KiB.
 */
export function toContext(given: unknown, code: ErrorCode): { readonly context?: GivenContext } {
  if (given === undefined || given === null) return {};
  if (typeof given !== 'object' || Array.isArray(given))
    throw new RuntimeError(code, 'A context must be an object.');
  const parsed = parseContext(toJsonObject(given, { name: 'context', maxBytes: LIMITS.contextBytes }));
  if (!parsed.ok) throw new RuntimeError(code, `${parsed.reason}.`);
  return { context: parsed.context };
}
