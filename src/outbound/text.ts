/** Texts of strangers, for errors, logs and models. */

/** For an error: short, on one line, without what cannot be seen. */
export function quote(text: unknown, longest = 500): string {
  const line = visible(String(text)).replace(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

/** Without characters that a reader does not see and a model does: controls, marks of direction, tags, what has no width. */
export function visible(text: string): string {
  return text.replace(/[^\P{C}\n\t]|\p{Zl}|\p{Zp}/gu, '');
}

/** The same for the names and texts in JSON, which must have been measured: it is not deep. */
export function visibleIn(value: unknown): unknown {
  if (typeof value === 'string') return visible(value);
  if (Array.isArray(value)) return value.map(visibleIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [visible(name), visibleIn(each)]));
}
