/**
 * Places our package and its dependencies in a project as they are in the clone. They are half a gigabyte, which npm
 * takes half a minute of computing to unpack. Files are hard links to the clone's, at paths in the project: packages
 * that are not placed there are not found.
 */
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

interface Locked {
  readonly dev?: boolean;
}

/** Places all dependencies, except those that only the clone's own scripts and tests need. */
export function layDependencies(project: string): void {
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock) as { packages: Readonly<Record<string, Locked>> };
  for (const [path, { dev }] of Object.entries(packages))
    if (path !== '' && dev !== true) lay(join(ROOT, path), join(project, path));
  layCommands(join(project, 'node_modules'));
}

/**
 * Places the files that npm would pack: those that package.json names, package.json itself, the readme and the licence.
 * The clone must be built.
 */
export function layPackage(project: string): void {
  const { bin, files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly bin: Readonly<Record<string, string>>;
    readonly files: readonly string[];
  };
  const modules = join(project, 'node_modules');
  const own = join(modules, 'everthread');
  mkdirSync(own, { recursive: true });
  for (const name of ['package.json', 'README.md', 'LICENSE', ...files]) {
    const [source, target] = [join(ROOT, name), join(own, name)];
    if (statSync(source).isDirectory()) lay(source, target);
    else linkOrCopy(source, target);
  }
  for (const [name, path] of Object.entries(bin))
    symlinkSync(join('..', 'everthread', path), join(modules, '.bin', name));
}

function layCommands(modules: string): void {
  const [from, to] = [join(ROOT, 'node_modules', '.bin'), join(modules, '.bin')];
  mkdirSync(to);
  for (const { name } of entriesOf(from).filter((entry) => entry.isSymbolicLink())) {
    const target = readlinkSync(join(from, name));
    if (existsSync(join(to, target))) symlinkSync(target, join(to, name));
  }
}

/**
 * Links a folder without its nested packages, which have their own entries. A package for another platform does not
 * exist and is skipped.
 */
function lay(from: string, to: string): void {
  const entries = entriesOf(from);
  if (entries.length > 0) mkdirSync(to, { recursive: true });
  for (const entry of entries) {
    if (entry.name === 'node_modules') continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) lay(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else linkOrCopy(source, target);
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    // Hard links do not work across file systems.
    copyFileSync(source, target);
  }
}
