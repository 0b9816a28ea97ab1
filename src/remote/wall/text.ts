/** Cleans texts from untrusted servers for use in errors, logs and prompts. */

/** Formats a value for an error message: one line, no invisible characters, cut after `longest` characters. */
export function quote(text: unknown, longest = 500): string {
  const line = visible(String(text)).replace(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

/**
 * Removes characters that a model reads but a person cannot see: control characters, direction marks, tags, zero-width
 * characters. Keeps newlines and tabs.
 */
export function visible(text: string): string {
  return text.replace(/[^\P{C}\n\t]|\p{Zl}|\p{Zp}/gu, '');
}

/** Applies `visible` to all names and strings of a JSON value. Recursive, so the caller must have checked the depth. */
export function visibleIn(value: unknown): unknown {
  if (typeof value === 'string') return visible(value);
  if (Array.isArray(value)) return value.map(visibleIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [visible(name), visibleIn(each)]));
}
