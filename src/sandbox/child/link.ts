/**
 * Bundles a module and all that it imports into one script, which is faster to load than many files to find, read and
 * translate. Our own modules are translated to the form that packages already have, `require` and `exports`.
 */
import { readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { pathToFileURL } from 'node:url';
import { transform } from 'sucrase';

export interface Linking {
  /** Specifiers that the script requests from `outside`, besides the modules of Node. */
  readonly outside?: readonly string[];
  /** Texts that replace those of modules, by URL. */
  readonly given?: Readonly<Record<string, string>>;
  /** Whether the entry uses top-level await: then the expression is a promise that resolves at its end. */
  readonly awaits?: boolean;
}

const REQUIRE = /\brequire\((['"])([^'"\n]+)\1\)/g;
/**
 * How the transform calls imported functions: by a lookup of `call`, which the user can replace to receive our
 * functions with all their arguments.
 */
const CALL = /([\w$]+\.[\w$]+)\.call\(void 0, /g;

/** Returns an expression for the exports of `entry`. It calls a function `outside` for modules that are not bundled. */
export function link(entry: URL, { outside = [], given = {}, awaits = false }: Linking = {}): string {
  const bodies: string[] = [];
  const numbers = new Map<string, number>();
  const visit = (url: URL, isOurs: boolean): number => {
    const known = numbers.get(url.href);
    if (known !== undefined) return known;
    const number = numbers.size;
    numbers.set(url.href, number);
    const { resolve } = createRequire(url);
    bodies[number] = (given[url.href] ?? readBody(url, isOurs)).replace(
      REQUIRE,
      (all, _quote, specifier: string) => {
        if (outside.includes(specifier) || isBuiltin(specifier)) return `outside('${specifier}')`;
        const path = tryTo(() => resolve(specifier));
        // The match is in a comment or a text.
        if (path === undefined) return all;
        return `require(${visit(pathToFileURL(path), isOurs && specifier.startsWith('.'))})`;
      },
    );
    return number;
  };
  visit(entry, true);
  return awaits ? compose(bodies, 'async ', 'modules[0](require, {})') : compose(bodies, '', 'require(0)');
}

function readBody(url: URL, isOurs: boolean): string {
  const text = readFileSync(url, 'utf8');
  if (!isOurs) return text;
  const { code } = transform(text, {
    transforms: url.pathname.endsWith('.ts') ? ['typescript', 'imports'] : ['imports'],
    disableESTransforms: true,
  });
  return code.replace(CALL, '(0, $1)(');
}

/** `kind` is a prefix for the first function, such as `async `. */
function compose(bodies: readonly string[], kind: string, result: string): string {
  // The engine compiles a function in parentheses eagerly, and so includes it in its cache.
  const modules = bodies.map((body) => `function (require, exports, module) {${body}\n})`);
  return `(() => {
const modules = [(${kind}${modules.join(',\n(')}];
const loaded = [];
const require = (number) => {
  if (!loaded[number]) {
    loaded[number] = { exports: {} };
    modules[number](require, loaded[number].exports, loaded[number]);
  }
  return loaded[number].exports;
};
return ${result};
})()`;
}

function tryTo<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
