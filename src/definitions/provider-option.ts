/** Checks `providerOptions` with the schema that a provider's factory carries (definitions §4). */
import type { ProviderFactory } from '../core/provider.ts';
import { fieldPath } from './check.ts';
import type { FieldProblem } from './problem.ts';

/** Nothing is checked when the provider has no schema. The author's values are kept: a schema may drop what it does not know. */
export function checkProviderOptions(provider: unknown, options: unknown): FieldProblem[] {
  if (typeof provider !== 'function') return [];
  const checked = (provider as ProviderFactory).providerOptions?.safeParse(options);
  if (checked === undefined || checked.success) return [];
  return checked.error.issues.map(({ path, message }) => ({
    field: fieldPath(['providerOptions', ...path]),
    message: `is refused by the provider: ${message}`,
  }));
}
