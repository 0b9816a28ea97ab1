/**
 * What an author's schema makes of arguments (definitions §12.4). A schema is code of the author: a refinement or a transform may throw
 * anything, and what it throws is a reason to refuse the arguments, told as any other.
 */
import type { AuthorSchema } from '../core/author/definition.ts';
import { errorMessage } from '../core/value/thrown.ts';

/** `data` has the defaults applied; `problem` names each problem with its place. */
export type ParsedArguments =
  | { readonly ok: true; readonly data: unknown }
  | { readonly ok: false; readonly problem: string };

export function parseWith(schema: AuthorSchema, given: unknown): ParsedArguments {
  try {
    const parsed = schema.safeParse(given);
    if (parsed.success) return { ok: true, data: parsed.data };
    return { ok: false, problem: describeIssues(parsed.error.issues) };
  } catch (error) {
    return { ok: false, problem: `their schema threw: ${errorMessage(error)}` };
  }
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** `[path] message; …`. A name may be a symbol. */
function describeIssues(issues: readonly Issue[]): string {
  return issues.map(({ path, message }) => `[${path.map(String).join('.')}] ${message}`).join('; ');
}
