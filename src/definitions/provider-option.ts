/** Checks `providerOptions` with the schema that a provider's factory carries (definitions §4). */
import type { ProviderFactory } from '../core/message/provider.ts';
import { fieldPath } from './check.ts';
import type { FieldProblem } from './problem.ts';

/** Without a schema nothing is checked. The author's values are kept, not the parsed ones: a schema may drop unknown fields. */
export function checkProviderOptions(provider: unknown, options: unknown): FieldProblem[] {
  if (typeof provider !== 'function') return [];
  const checked = (provider as ProviderFactory).providerOptions?.safeParse(options);
  if (checked === undefined || checked.success) return [];
  return checked.error.issues.map(({ path, message }) => ({
    field: fieldPath(['providerOptions', ...path]),
    message: `is refused by the provider: ${message}`,
  }));
}
