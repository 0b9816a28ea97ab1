/**
 * Our package, and those that it depends on, put into a project as the clone has them. They are half a gigabyte, which npm takes half a minute
 * of computing to unpack. Files are links to the clone's, at paths of the project: what is not laid there is not found.
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

/** Nothing that only the clone's own scripts and tests need. */
export function layDependencies(project: string): void {
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock) as { packages: Readonly<Record<string, Locked>> };
  for (const [path, { dev }] of Object.entries(packages))
    if (path !== '' && dev !== true) lay(join(ROOT, path), join(project, path));
  layCommands(join(project, 'node_modules'));
}

/** What npm puts into the package: what is named there, and what tells about it. The clone's is built. */
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

/** A folder without the packages in it, which have entries of their own. One that is for another platform is not there. */
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
    // Another file system.
    copyFileSync(source, target);
  }
}
