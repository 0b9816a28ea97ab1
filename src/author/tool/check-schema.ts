/**
 * Validates values against an author's schema (definitions §8). Refinements and transforms are author code: they may be
 * asynchronous, throw, or never settle. Each of these is reported as a problem of the value and never fails the caller.
 */
import type { AuthorSchema } from '../../core/author/author-schema.ts';
import { type JsonBound, toJsonObject } from '../../core/value/json-value.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import { withinTime } from '../guard/within-time.ts';

export type Checked<Value> =
  | { readonly ok: true; readonly value: Value }
  /** `problems`: `[path] message; …`, for models and logs. */
  | { readonly ok: false; readonly problems: string };

/**
 * Validates a value and applies defaults and transforms. The output can be any value that the author's schema returns.
 */
export async function checkSchema(schema: AuthorSchema, given: unknown): Promise<Checked<unknown>> {
  try {
    const parsed = await withinTime(async () => schema.safeParseAsync(given));
    if (parsed.success) return { ok: true, value: parsed.data };
    return { ok: false, problems: describeIssues(parsed.error.issues) };
  } catch (error) {
    return { ok: false, problems: `the schema itself failed: ${errorMessage(error)}` };
  }
}

/** Validates arguments that are stored: the schema's output must be JSON. */
export async function checkStoredArguments(
  schema: AuthorSchema | undefined,
  given: Readonly<Record<string, unknown>>,
): Promise<Checked<Readonly<Record<string, unknown>>>> {
  if (!schema) return { ok: true, value: given };
  const checked = await checkSchema(schema, given);
  if (!checked.ok) return checked;
  try {
    return { ok: true, value: toJsonObject(checked.value, STORED) };
  } catch (error) {
    return { ok: false, problems: errorMessage(error) };
  }
}

const STORED: JsonBound = { name: 'arguments', maxBytes: LIMITS.contentBytes };

function describeIssues(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
): string {
  return issues.map(({ path, message }) => `[${path.map(String).join('.')}] ${message}`).join('; ');
}
