/**
 * Resolves specifiers (§13.2, definitions §19.4): a bare one to one of the run's imports, a relative one to one of its
 * modules, anything else to nothing. Pure, and by own names only: `__proto__` is a name like others.
 */

export type Resolved =
  | { readonly kind: 'import'; readonly specifier: string }
  /** `key` is normalised. */
  | { readonly kind: 'module'; readonly key: string }
  | { readonly kind: 'unknown'; readonly message: string };

export interface Resolver {
  /** `referrer` is a normalised key; undefined is the entry, which is in './'. */
  resolve(specifier: string, referrer: string | undefined): Resolved;
  normalize(key: string): string;
  /** The modules' keys, normalised. */
  readonly keys: ReadonlySet<string>;
}

const EXTENSIONS = ['.ts', '.tsx', '.js', '.mjs', '.json'];
const MAX_NAMES = 10;
const SHOWN_LENGTH = 200;

export function createResolver(imports: Iterable<string>, modules: Iterable<string>): Resolver {
  const bare = new Set(imports);
  const keys: ReadonlySet<string> = new Set(Array.from(modules, normalizeKey));
  const find = (specifier: string, referrer: string | undefined) =>
    candidates(joinToReferrer(specifier, referrer)).find((key) => keys.has(key));

  const explain = (specifier: string, referrer: string | undefined): string => {
    const asked = `Cannot resolve ${quote(specifier)}${referrer === undefined ? '' : ` from ${quote(referrer)}`}: `;
    switch (kindOf(specifier)) {
      case 'relative':
        return `${asked}relative specifiers resolve from options.modules, which ${describeNames(keys)}.`;
      case 'bare': {
        const meant = find(`./${specifier}`, referrer) ? ` Did you mean ${quote(`./${specifier}`)}?` : '';
        return `${asked}bare specifiers resolve from options.imports, which ${describeNames(bare)}.${meant}`;
      }
      case 'url':
        return `${asked}URLs are never loaded. Pass the module in options.imports or options.modules.`;
      case 'absolute':
        return `${asked}absolute paths are never loaded. Pass the module in options.modules, under a relative key.`;
    }
  };

  return {
    keys,
    normalize: normalizeKey,
    resolve(specifier, referrer) {
      const kind = kindOf(specifier);
      if (kind === 'bare' && bare.has(specifier)) return { kind: 'import', specifier };
      const key = kind === 'relative' ? find(specifier, referrer) : undefined;
      return key === undefined
        ? { kind: 'unknown', message: explain(specifier, referrer) }
        : { kind: 'module', key };
    },
  };
}

/** Turns './lib/../a.ts' into './a.ts'; a path that leaves the root, such as '../x', stays outside. */
export function normalizeKey(key: string): string {
  const path: string[] = [];
  let climbs = 0;
  for (const segment of key.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') path.push(segment);
    else if (path.pop() === undefined) climbs += 1;
  }
  const start = climbs === 0 ? ['.'] : Array<string>(climbs).fill('..');
  return [...start, ...path].join('/');
}

function kindOf(specifier: string): 'relative' | 'bare' | 'url' | 'absolute' {
  if (/^\.{1,2}(?:\/|$)/.test(specifier)) return 'relative';
  if (/^[a-z][a-z\d+.-]*:/i.test(specifier)) return 'url';
  return specifier.startsWith('/') ? 'absolute' : 'bare';
}

function joinToReferrer(specifier: string, referrer: string | undefined): string {
  const folder = referrer === undefined ? '.' : referrer.slice(0, referrer.lastIndexOf('/'));
  return normalizeKey(`${folder}/${specifier}`);
}

/** Returns the keys to try, in order of preference. TypeScript authors write './a.js' for './a.ts'. */
function candidates(key: string): readonly string[] {
  const stem = /^(.*)\.(?:js|mjs|jsx)$/s.exec(key)?.[1];
  return [
    key,
    ...EXTENSIONS.map((extension) => key + extension),
    ...(stem === undefined ? [] : [`${stem}.ts`, `${stem}.tsx`]),
    ...EXTENSIONS.map((extension) => `${key}/index${extension}`),
  ];
}

function describeNames(names: ReadonlySet<string>): string {
  if (names.size === 0) return 'is empty';
  const shown = [...names].slice(0, MAX_NAMES).map(quote).join(', ');
  const more = names.size - MAX_NAMES;
  return `holds ${shown}${more > 0 ? ` and ${more} more` : ''}`;
}

function quote(name: string): string {
  return `'${name.length > SHOWN_LENGTH ? `${name.slice(0, SHOWN_LENGTH)}…` : name}'`;
}
