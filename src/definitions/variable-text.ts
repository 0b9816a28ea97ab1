/** Checks texts of definitions that refer to variables as `{{NAME}}`. */
import { variablesIn } from '../core/author/mcp-server.ts';
import type { RawFields } from './check.ts';
import type { FieldProblem } from './problem.ts';

/** Reports each `{{NAME}}` that is not declared: it has no value, and would silently be replaced by nothing. */
export function checkVariableTexts(given: RawFields, fields: readonly string[]): FieldProblem[] {
  const declared = new Set(listOf(given.variables).map((each) => (each as { name?: unknown })?.name));
  return fields.flatMap((field) => {
    const texts = Object.entries((given[field] ?? {}) as object);
    return texts.flatMap(([key, value]) =>
      (typeof value === 'string' ? variablesIn(value) : [])
        .filter((name) => !declared.has(name))
        .map((name) => ({
          field: `${field}.${key}`,
          message: `names the variable '${name}', which variables does not declare`,
        })),
    );
  });
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
