/**
 * How a new project depends on Everthread: in the way the running copy was installed.
 *   a clone                      file: and the path of the clone
 *   a package in a project       the spec in that project's package.json, else in its lockfile; also a tarball's file:
 *   anything else (global, npx)  the running version
 */
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { packageRoot } from '../../temporal-service/package-root.ts';

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

interface Lockfile {
  readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>;
}

/** The dependencies of a project in `folder`, for its package.json. */
export function projectDependencies(folder: string, root = packageRoot()): Record<string, string> {
  const { peerDependencies = {} } = readJson<Manifest>(join(root, 'package.json')) ?? {};
  return { everthread: everthreadDependency(folder, root), ...peerDependencies };
}

export function everthreadDependency(folder: string, root = packageRoot()): string {
  const installer = installerOf(root);
  if (installer === undefined) return toFileSpec(folder, root);
  const spec = specOf(installer);
  if (spec?.startsWith('file:')) return toFileSpec(folder, resolve(installer, spec.slice('file:'.length)));
  const { version = '*' } = readJson<Manifest>(join(root, 'package.json')) ?? {};
  return spec ?? `^${version}`;
}

/** The folder whose node_modules holds the package; undefined for a clone. */
function installerOf(root: string): string | undefined {
  const parent = dirname(root);
  return parent.endsWith(`${sep}node_modules`) ? dirname(parent) : undefined;
}

function specOf(installer: string): string | undefined {
  const { dependencies, devDependencies } = readJson<Manifest>(join(installer, 'package.json')) ?? {};
  const given = dependencies?.everthread ?? devDependencies?.everthread;
  if (given !== undefined) return given;
  // `npm install --no-save` records the spec only here. A registry's address is not a spec: the version is used.
  const resolved = readJson<Lockfile>(join(installer, 'node_modules', '.package-lock.json'))?.packages?.[
    'node_modules/everthread'
  ]?.resolved;
  return resolved?.startsWith('file:') ? resolved : undefined;
}

function toFileSpec(folder: string, target: string): string {
  const path = relative(folder, target);
  return `file:${(isAbsolute(path) ? path : path || '.').split(sep).join('/')}`;
}

function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    return undefined;
  }
}
