/**
 * Lists everything that a sandbox child has to read: Node, the libraries that the loader found for it, the sandbox's
 * own code, and its packages with their dependencies. No other file of the machine is visible to the child.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Readable {
  /** Files and folders: `source` is where they are, `target` is where the child looks for them. */
  readonly binds: readonly { readonly source: string; readonly target: string }[];
  readonly links: readonly { readonly at: string; readonly to: string }[];
  /** The paths that JavaScript reads, for Node's permission model. */
  readonly code: readonly string[];
}

/** `src/sandbox` or `dist/sandbox`. */
export const SANDBOX = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const ENGINE = 'isolated-vm';
const PACKAGES = [ENGINE, 'node-gyp-build', 'sucrase', 'es-module-lexer'];
/** The loader's index of where libraries are. */
const LOADER_CACHE = '/etc/ld.so.cache';

let libraries: readonly string[] | undefined;

/** Says what no child can do without and this machine does not have: npm leaves the engine out where it cannot run. */
export function findAbsent(): string | undefined {
  return findPackage(SANDBOX, ENGINE) ? undefined : `the package "${ENGINE}" is not installed`;
}

/** `main` is the child's program; it is added if it is outside the sandbox's folder. */
export function findReadable(main: string): Readable {
  const links: { at: string; to: string }[] = [];
  const packages = findPackages(SANDBOX, PACKAGES, links);
  const code = [SANDBOX, ...packages, ...findManifest(SANDBOX), ...(main.startsWith(SANDBOX) ? [] : [main])];
  const native =
    process.platform === 'linux' ? [...findLibraries(), LOADER_CACHE].filter((path) => existsSync(path)) : [];
  return {
    binds: [
      ...native.map((target) => ({ source: realpathSync(target), target })),
      ...[process.execPath, ...code].map((path) => ({ source: path, target: path })),
    ],
    links,
    code: [...code, ...links.map(({ at }) => at)],
  };
}

/** Finds the manifest that declares the sandbox's files to be modules. */
function findManifest(folder: string): string[] {
  for (let above = folder; above !== dirname(above); above = dirname(above)) {
    const manifest = join(above, 'package.json');
    if (existsSync(manifest)) return [manifest];
  }
  return [];
}

/** Returns the real folders of packages and of their dependencies; adds the links that lead there to `links`. */
function findPackages(from: string, names: readonly string[], links: { at: string; to: string }[]): string[] {
  const found = new Set<string>();
  const visit = (folder: string, name: string) => {
    const at = findPackage(folder, name);
    if (at === undefined) return;
    const real = realpathSync(at);
    const shown = [...found].some((parent) => at.startsWith(parent + sep));
    if (real !== at && !shown && !links.some((link) => link.at === at)) links.push({ at, to: real });
    if (found.has(real)) return;
    found.add(real);
    const { dependencies = {} } = JSON.parse(readFileSync(join(real, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    for (const dependency of Object.keys(dependencies)) visit(real, dependency);
  };
  for (const name of names) visit(from, name);
  return [...found];
}

function findPackage(from: string, name: string): string | undefined {
  for (let above = from; above !== dirname(above); above = dirname(above)) {
    const folder = join(above, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return folder;
  }
  return undefined;
}

/** Returns the shared libraries of this process, which are also the child's, by the paths that the loader used. */
function findLibraries(): readonly string[] {
  if (libraries) return libraries;
  const { report } = process as { report: typeof process.report & { excludeNetwork?: boolean } };
  const network = report.excludeNetwork;
  // Otherwise it queries the name service for every address of the machine.
  report.excludeNetwork = true;
  try {
    const { sharedObjects } = report.getReport() as { sharedObjects: string[] };
    libraries = sharedObjects.filter((path) => path.startsWith('/') && !path.endsWith('.node'));
  } finally {
    report.excludeNetwork = network ?? false;
  }
  return libraries;
}
