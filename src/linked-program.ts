/**
 * A program of ours as one file: what would be found, read and translated some seven hundred times is so once. The build leaves it beside the program; of sources it is made once, and kept.
 * N1. Packages whose instance others share (Temporal's, which the SDK loads itself, zod, which authors use) stay outside of it.
 * N2. What authors import as ours is in it: their files work with this process's modules, and not with a second copy.
 * N3. Modules begin in the order of their imports, and those that are imported on demand begin then.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { basename, dirname, extname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { keepFile } from './kept-file.ts';
import type { Program } from './supervisor/index.ts';

const SOURCES = dirname(fileURLToPath(import.meta.url));
const IS_BUILT = extname(import.meta.url) === '.js';
/** Hundreds of modules that nobody else in the process sees. */
const INSIDE = ['kysely'];
/** It has two forms, and authors' files load this one. */
const AS_MODULE = 'zod';
/** N2. Files of `definitions/running-package.ts`. */
const DOORS = ['index', 'models/index', 'standard-agents', 'worker/index', 'server/index', 'testing/index'];

const START = fileURLToPath(new URL(`./worker/program-start${extname(import.meta.url)}`, import.meta.url));

const programs = new Map<string, Promise<string>>();

/** What to start for `main`. */
export async function readyProgram(main: URL): Promise<Program> {
  return [START, pathToFileURL(await linkedProgram(main)).href];
}

/** What to load for `main`: that itself where nothing can be kept. */
export function linkedProgram(main: URL): Promise<string> {
  const path = fileURLToPath(main);
  const known = programs.get(path) ?? findProgram(path);
  programs.set(path, known);
  return known;
}

/** Beside built code, where the build leaves it. */
export const builtProgram = (main: string): string => main.replace(/\.js$/, '.linked.mjs');

async function findProgram(main: string): Promise<string> {
  if (IS_BUILT) return existsSync(builtProgram(main)) ? builtProgram(main) : main;
  const file = {
    folder: join('everthread', 'programs'),
    name: basename(main, extname(main)),
    extension: '.mjs',
    sources: [...new Set([dirname(main), SOURCES])],
  } as const;
  const kept = await keepFile(file, () => linkProgram(main)).catch(() => undefined);
  return kept?.path ?? main;
}

interface Module {
  readonly path: string;
  body: string;
}

/** `target`: where it will lie, for a text that may be moved with what it is made of. */
export async function linkProgram(main: string, target?: string): Promise<string> {
  const { transform } = await import('sucrase');
  const { parse } = await import('es-module-lexer');
  const modules: Module[] = [];
  const numbers = new Map<string, number>();

  const visit = (path: string): number => {
    const known = numbers.get(path);
    if (known !== undefined) return known;
    const module: Module = { path, body: '' };
    const number = modules.push(module) - 1;
    numbers.set(path, number);
    const text = readFileSync(path, 'utf8');
    module.body = isOurs(path) ? linkOurs(module, text) : linkRequires(path, text);
    return number;
  };

  const linkOurs = ({ path }: Module, text: string): string => {
    const options = { disableESTransforms: true, keepUnusedImports: true } as const;
    const code = path.endsWith('.ts')
      ? transform(text, { transforms: ['typescript'], ...options }).code
      : text;
    let out = '';
    let written = 0;
    for (const found of parse(code)[0].toSorted((a, b) => a.importStart - b.importStart)) {
      if (found.type === 'static') continue;
      const isMeta = found.type === 'import-meta';
      const end = isMeta ? found.importEnd : found.importStart + 'import'.length;
      out += `${code.slice(written, found.importStart)}${isMeta ? '__meta' : '__load'}`;
      written = end;
    }
    const rewritten = out + code.slice(written);
    const { code: script } = transform(rewritten, { transforms: ['imports'], ...options });
    return linkRequires(path, script).replace(LOAD, (all, _quote, specifier: string) =>
      specifier.startsWith('.') ? `__load(${visit(join(dirname(path), specifier))})` : all,
    );
  };

  const linkRequires = (path: string, script: string): string => {
    const { resolve } = createRequire(path);
    return script.replace(REQUIRE, (all, _quote, specifier: string) => {
      if (isBuiltin(specifier)) return `__outside('${specifier}')`;
      // N1: authors' files load the same one.
      if (specifier === AS_MODULE) return '__shared';
      if (specifier.startsWith('.')) return `require(${visit(resolve(specifier))})`;
      if (INSIDE.includes(specifier)) return `require(${visit(resolve(specifier))})`;
      return isOurs(path) ? `__outside('${specifier}')` : all;
    });
  };

  visit(main);
  // N2: what authors import as ours.
  for (const door of DOORS) visit(join(SOURCES, `${door}${extname(main)}`));
  return compose(modules, target);
}

const REQUIRE = /\brequire\((['"])([^'"\n]+)\1\)/g;
const LOAD = /\b__load\((['"])([^'"\n]+)\1\)/g;

const isOurs = (path: string): boolean => !path.includes(`${join('/', 'node_modules', '/')}`);

function compose(modules: readonly Module[], target: string | undefined): string {
  const place = (path: string) =>
    target === undefined
      ? JSON.stringify(pathToFileURL(path).href)
      : `new URL(${JSON.stringify(relative(dirname(target), path))}, import.meta.url).href`;
  const parts = modules.map(
    ({ path, body }, number) =>
      // In parentheses the engine compiles a function at once, and so keeps it in its cache.
      `[${place(path)}, (${number === 0 ? 'async ' : ''}function (require, exports, module, __load, __meta) {${body}\n})]`,
  );
  return `import { createRequire } from 'node:module';
import * as __shared from '${AS_MODULE}';
const __outside = createRequire(import.meta.url);
const modules = [${parts.join(',\n')}];
const numbers = new Map(modules.map(([url], number) => [url, number]));
const loaded = [];
const begin = (number) => {
  const [url, body] = modules[number];
  const module = (loaded[number] = { exports: {} });
  return body(require, module.exports, module, load, { url });
};
const require = (number) => {
  if (!loaded[number]) begin(number);
  return loaded[number].exports;
};
const load = async (what) => {
  const number = typeof what === 'number' ? what : numbers.get(String(what));
  return number === undefined ? import(what) : require(number);
};
await begin(0);
`;
}
