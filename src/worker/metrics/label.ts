/** Bounds the values of labels: a model can invent names of tools, and each value of a label is a permanent series. */
const MAX_LABELS = 200;
export const OTHER_LABEL = 'other';

/** Returns a function from names to labels: at most 200 known names map to themselves, all others to `other`. */
export function openLabels(isKnown: (name: string) => boolean): (name: string) => string {
  const seen = new Set<string>();
  return (name) => {
    if (seen.has(name)) return name;
    if (seen.size >= MAX_LABELS || !isKnown(name)) return OTHER_LABEL;
    seen.add(name);
    return name;
  };
}
