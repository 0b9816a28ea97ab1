/**
 * Makes one script of a module and all that it imports: what would be found, read and translated file by file is read
 * at once. Modules of ours are translated to the form that packages have already, `require` and `exports`.
 */
import { readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { pathToFileURL } from 'node:url';
import { transform } from 'sucrase';

export interface Linking {
  /** What the script asks `outside` for, beside the modules of Node. */
  readonly outside?: readonly string[];
  /** What stands for modules whose text is known already, by their address. */
  readonly given?: Readonly<Record<string, string>>;
  /** Whether the entry may wait at its top level: then the expression is a promise of its end. */
  readonly awaits?: boolean;
}

const REQUIRE = /\brequire\((['"])([^'"\n]+)\1\)/g;
/**
 * How the transform calls what is imported. It looks `call` up where the user can replace it, and be handed our
 * functions with all that they are given.
 */
const CALL = /([\w$]+\.[\w$]+)\.call\(void 0, /g;

/** An expression: the exports of `entry`. It asks a function `outside` for what is not in it. */
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
        // It stands in a comment, or in a text.
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

/** `kind` is the first function's. */
function compose(bodies: readonly string[], kind: string, result: string): string {
  // In parentheses the engine compiles a function at once, and so keeps it in its cache.
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
