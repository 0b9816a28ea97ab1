/** The shape of JSON: the path of each value with its types, one a line, whatever the values are. */

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

interface Seen {
  readonly types: Set<string>;
  /** Number of values at the path, and of objects that could have had one. */
  count: number;
  objects: number;
}

/** `values` are examples of one thing. A path ends in `?` if some example lacks it; `[]` are the elements of a list. */
export function shapeOf(values: readonly unknown[]): string[] {
  const seen = new Map<string, Seen>();
  for (const value of values) visit(seen, '', value);
  return [...seen.keys()].toSorted().map((path) => describePath(seen, path));
}

function visit(seen: Map<string, Seen>, path: string, value: unknown): void {
  const at = seen.get(path) ?? { types: new Set(), count: 0, objects: 0 };
  seen.set(path, at);
  at.types.add(typeOf(value));
  at.count += 1;
  if (Array.isArray(value)) for (const each of value) visit(seen, `${path}[]`, each);
  else if (typeof value === 'object' && value !== null) {
    at.objects += 1;
    for (const [key, each] of Object.entries(value)) visit(seen, `${path}.${key}`, each);
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'string' && TIME.test(value) ? 'time' : typeof value;
}

function describePath(seen: ReadonlyMap<string, Seen>, path: string): string {
  const { types, count = 0 } = seen.get(path) ?? { types: [] };
  const owner = path.endsWith('[]') ? undefined : seen.get(path.slice(0, path.lastIndexOf('.')));
  const lacking = owner !== undefined && path !== '' && count < owner.objects;
  return `${path === '' ? '(all)' : path}${lacking ? '?' : ''} ${[...types].toSorted().join(' | ')}`;
}
