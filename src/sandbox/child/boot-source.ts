/**
 * The sandbox's own modules, as one script for the isolate: read once per child, before any run. A script and not
 * modules, because the engine takes code from its cache for scripts alone, and isolates are many.
 */
import { existsSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { transform } from 'sucrase';

const EXTENSION = extname(import.meta.url);
const ENTRY = new URL(`../guest/boot${EXTENSION}`, import.meta.url);

/** The name under which the script leaves its exports on the global object, for the first module to take away. */
export const BOOT_GLOBAL = 'everthreadBoot';

/** What modules that we write around the user's can import, and what the child calls. */
const BOOT_EXPORTS =
  'install, deliver, start, loaded, metaOf, loadFrom, globalOf, importOf, consoleOf, report';

export const BOOT_MODULE =
  `const boot = globalThis.${BOOT_GLOBAL}; delete globalThis.${BOOT_GLOBAL}; ` +
  `export const { ${BOOT_EXPORTS} } = boot;`;

/**
 * How the transform calls what is imported. It looks `call` up where the user can replace it, and be handed our
 * functions with all that they are given.
 */
const CALL = /([\w$]+\.[\w$]+)\.call\(void 0, /g;

/** Beside built code, where the build has left it: to make it is a quarter of what a child takes to start. */
export const BUILT_SCRIPT = new URL('../guest/boot.bundle.txt', import.meta.url);

export function readBootScript(): string {
  return existsSync(BUILT_SCRIPT) ? readFileSync(BUILT_SCRIPT, 'utf8') : makeBootScript();
}

export function makeBootScript(): string {
  const bodies: string[] = [];
  const numbers = new Map<string, number>();
  const visit = (url: URL): number => {
    const known = numbers.get(url.href);
    if (known !== undefined) return known;
    const number = numbers.size;
    numbers.set(url.href, number);
    const { code } = transform(readFileSync(url, 'utf8'), {
      transforms: EXTENSION === '.ts' ? ['typescript', 'imports'] : ['imports'],
      disableESTransforms: true,
    });
    bodies[number] = code
      .replace(/\brequire\('([^']+)'\)/g, (_, specifier) => `require(${visit(new URL(specifier, url))})`)
      .replace(CALL, '(0, $1)(');
    return number;
  };
  visit(ENTRY);
  // In parentheses the engine compiles a function at once, and so keeps it in its cache.
  const modules = bodies.map((body) => `(function (require, exports) {${body}\n})`).join(',\n');
  return `globalThis.${BOOT_GLOBAL} = (() => {
const modules = [${modules}];
const loaded = [];
const require = (number) => {
  if (!loaded[number]) modules[number](require, (loaded[number] = {}));
  return loaded[number];
};
return require(0);
})();`;
}
