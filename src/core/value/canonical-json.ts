/** Canonical JSON: sorted keys, no spaces. Equal values have equal texts, so a digest of it identifies the value. */

/** Starts from the output of `JSON.stringify`: dates are texts; what JSON lacks is absent or null. */
export function canonicalJson(value: unknown): string {
  const text = JSON.stringify(value);
  return text === undefined ? 'null' : write(JSON.parse(text));
}

function write(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${write(each)}`).join(',')}}`;
}
