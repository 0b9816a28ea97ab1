/** Detects a context in the payload of a start or an item. Early versions ignored it: callers check `patched` (W2). */

export const TAKES_CONTEXTS = 'takes-contexts';

export function hasContext(payload: unknown): payload is { readonly context: unknown } {
  const { context } = (payload ?? {}) as { readonly context?: unknown };
  return context !== undefined && context !== null;
}
