/**
 * Writes a new project into a folder.
 * - No existing file is overwritten: the folder is empty, or holds no more than what `npm init`, `npm install` and
 *   `git init` leave. Their package.json and .gitignore are completed.
 */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { RuntimeError } from '../../core/value/error.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import { makeFolders } from '../../store/folder/private-files.ts';
import { packageRoot } from '../../temporal-service/package-root.ts';
import { showPath } from '../connection/find-store.ts';
import { IGNORED, projectFiles, SCRIPTS } from './files.ts';

/** Names that may exist in the folder already. */
const ALLOWED_NAMES = [
  'package.json',
  'package-lock.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'node_modules',
  '.npmrc',
  '.git',
  '.gitignore',
  '.env',
  '.everthread',
  'LICENSE',
];

export interface NewProject {
  /** Paths of the written files, relative to the folder. */
  readonly files: readonly string[];
  /** True if `everthread` already resolves from the folder. */
  readonly installed: boolean;
}

/** Throws `InvalidConfiguration` if the folder holds anything else. */
export function writeProject(folder: string): NewProject {
  requireEmpty(folder);
  const name = packageName(folder);
  const files = {
    ...projectFiles(name),
    'package.json': packageJson(folder, name),
    '.gitignore': gitignore(folder),
  };
  for (const [path, content] of Object.entries(files)) {
    makeFolders(dirname(join(folder, path)));
    writeFileSync(join(folder, path), content);
  }
  return { files: Object.keys(files), installed: existsSync(join(folder, 'node_modules', 'everthread')) };
}

function requireEmpty(folder: string): void {
  const others = listNames(folder).filter((name) => !ALLOWED_NAMES.includes(name) && !name.endsWith('.tgz'));
  if (others.length === 0) return;
  const shown = others.slice(0, 3).join(', ') + (others.length > 3 ? ` and ${others.length - 3} more` : '');
  throw new RuntimeError(
    'InvalidConfiguration',
    `${showPath(folder)} is not empty: it has ${shown}. Nothing was written; name a new folder or an empty one.`,
  );
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    throw new RuntimeError(
      'InvalidConfiguration',
      `${showPath(folder)} cannot be used as a folder (${code}).`,
      { cause: error },
    );
  }
}

/** What is read of a package.json. */
interface Manifest {
  readonly version?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

function packageJson(folder: string, name: string): string {
  const wanted = projectDependencies(folder);
  const found = readManifest(folder);
  if (!found) {
    const fresh = {
      name,
      version: '0.0.0',
      private: true,
      type: 'module',
      scripts: SCRIPTS,
      dependencies: wanted,
    };
    return toJsonText(fresh);
  }
  const has = (dependency: string) => dependency in { ...found.dependencies, ...found.devDependencies };
  const missing = Object.entries(wanted).filter(([dependency]) => !has(dependency));
  return toJsonText({
    ...found,
    scripts: { ...SCRIPTS, ...ownScripts(found.scripts) },
    dependencies: { ...found.dependencies, ...Object.fromEntries(missing) },
  });
}

/** Returns the scripts without the placeholder test that `npm init` writes. */
function ownScripts(scripts: Manifest['scripts'] = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(scripts).filter(([, text]) => !text.includes('no test specified')),
  );
}

function readManifest(folder: string): Manifest | undefined {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Manifest;
  } catch (cause) {
    throw new RuntimeError('InvalidConfiguration', `${showPath(file)} is not JSON: ${errorMessage(cause)}`, {
      cause,
    });
  }
}

function gitignore(folder: string): string {
  const file = join(folder, '.gitignore');
  const found = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const lines = found.split(/\r?\n/).map((line) => line.trim().replace(/^\/|\/$/g, ''));
  const missing = IGNORED.filter((line) => !lines.includes(line.replace(/\/$/, '')));
  const separator = found === '' || found.endsWith('\n') ? '' : '\n';
  return found + (missing.length === 0 ? '' : `${separator}${missing.join('\n')}\n`);
}

/** Derives a valid npm package name from the folder's. */
function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '');
  return name === '' || name === 'everthread' ? 'my-agents' : name;
}

function toJsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/**
 * How a new project depends on Everthread: in the way the running copy was installed.
 *   a clone                      file: and the path of the clone
 *   a package in a project       the spec in that project's package.json, else in its lockfile; also a tarball's file:
 *   anything else (global, npx)  the running version
 */
interface Lockfile {
  readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>;
}

/** The dependencies of a project in `folder`, for its package.json. */
function projectDependencies(folder: string, root = packageRoot()): Record<string, string> {
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
