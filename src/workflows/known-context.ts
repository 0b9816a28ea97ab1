/** A context that comes with a start or an item. Early versions took no notice of it, so it is read behind `patched` (W2). */

export const TAKES_CONTEXTS = 'takes-contexts';

export function hasContext(payload: unknown): payload is { readonly context: unknown } {
  const { context } = (payload ?? {}) as { readonly context?: unknown };
  return context !== undefined && context !== null;
}
