/** The sources as text: files, their imports, and their code without comments and strings. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface Import {
  /** The specifier as it is written. */
  readonly specifier: string;
  /** The imported file of src, relative to src; undefined for a package. */
  readonly file: string | undefined;
  /** The name of the package, `node:` for Node's own modules; undefined for a file. */
  readonly package: string | undefined;
  /** True for `import type` and `export type`, which are erased before the code runs. */
  readonly typeOnly: boolean;
  /** True for `import()`: loaded when that line runs, and not with the file. */
  readonly lazy: boolean;
}

export interface SourceFile {
  /** Path relative to src, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  /** The text without comments and without the contents of strings. */
  readonly code: string;
}

export function readSources(folder = join(ROOT, 'src')): SourceFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => readSource(relative(folder, file).split(sep).join('/'), readFileSync(file, 'utf8')));
}

export function readSource(path: string, text: string): SourceFile {
  return {
    path,
    text,
    lines: text.trimEnd().split('\n').length,
    imports: findImports(path, strip(text, TEMPLATE)),
    code: strip(text, STRING),
  };
}

const STRING_OR_COMMENT =
  /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
const STRING = /^["'`]/;
/** Template strings: they may contain code of other programs, with imports of its own. */
const TEMPLATE = /^`/;

/** Removes comments, and the contents of the strings that `blank` matches. */
function strip(text: string, blank: RegExp): string {
  return text.replace(STRING_OR_COMMENT, (_match, string: string | undefined) => {
    if (string === undefined) return '';
    return blank.test(string) ? '""' : string;
  });
}

const STATIC_IMPORT = /^(?:import|export)\s+(type\s+)?(?:[\w*${}\s,]+?\s+from\s+)?['"]([^'"]+)['"]/gm;
const DYNAMIC_IMPORT = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

function findImports(path: string, code: string): Import[] {
  const found = [...code.matchAll(STATIC_IMPORT)].map(([, type, specifier]) =>
    toImport(path, specifier, { typeOnly: Boolean(type), lazy: false }),
  );
  const dynamic = [...code.matchAll(DYNAMIC_IMPORT)].map(([, specifier]) =>
    toImport(path, specifier, { typeOnly: false, lazy: true }),
  );
  return [...found, ...dynamic];
}

function toImport(path: string, specifier = '', kind: Pick<Import, 'typeOnly' | 'lazy'>): Import {
  if (specifier.startsWith('.')) {
    return { specifier, ...kind, file: posix.join(dirname(path), specifier), package: undefined };
  }
  return { specifier, ...kind, file: undefined, package: packageName(specifier) };
}

function packageName(specifier: string): string {
  if (specifier.startsWith('node:')) return 'node:';
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** Merges each folder of these files into one entry, with its imports from other folders, types included. */
export function foldersOf(files: readonly SourceFile[]): SourceFile[] {
  const folders = Map.groupBy(files, ({ path }) => dirname(path));
  return [...folders].map(([path, within]) => ({
    path,
    code: '',
    text: '',
    lines: 0,
    imports: within
      .flatMap(({ imports }) => imports)
      .flatMap((imported) => (imported.file ? [{ ...imported, file: dirname(imported.file) }] : []))
      .filter(({ file }) => file !== path)
      .map((imported) => ({ ...imported, typeOnly: false })),
  }));
}

/** Returns the same files with imports of types counted like any others. */
export function withTypes(files: readonly SourceFile[]): SourceFile[] {
  return files.map((file) => ({
    ...file,
    imports: file.imports.map((imported) => ({ ...imported, typeOnly: false })),
  }));
}

/** Returns the files of a cycle of imports, or undefined if there is none. */
export function findCycle(files: readonly SourceFile[]): string[] | undefined {
  const edges = new Map(
    files.map(({ path, imports }) => [
      path,
      imports.flatMap(({ file, typeOnly }) => (file && !typeOnly ? [file] : [])),
    ]),
  );
  const done = new Set<string>();
  const walk = (path: string, way: readonly string[]): string[] | undefined => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const next of edges.get(path) ?? []) {
      const cycle = walk(next, [...way, path]);
      if (cycle) return cycle;
    }
    done.add(path);
    return undefined;
  };
  for (const path of edges.keys()) {
    const cycle = walk(path, []);
    if (cycle) return cycle;
  }
  return undefined;
}
