/** Names that may become labels: a model makes up names of tools, and each value of a label is a series for ever. */
const MOST = 200;
export const OTHER = 'other';

/** What the project knows by now, so many names at most; anything else is `other`. */
export function openLabels(isKnown: (name: string) => boolean): (name: string) => string {
  const seen = new Set<string>();
  return (name) => {
    if (seen.has(name)) return name;
    if (seen.size >= MOST || !isKnown(name)) return OTHER;
    seen.add(name);
    return name;
  };
}
