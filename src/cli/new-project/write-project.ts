/**
 * Writes a new project into a folder.
 * N1. No existing file is overwritten: the folder is empty, or holds no more than what `npm init`, `npm install` and
 *     `git init` leave. Their package.json and .gitignore are completed.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { RuntimeError } from '../../core/value/error.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import { showPath } from '../connection/find-store.ts';
import { projectDependencies } from './dependency.ts';
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
    mkdirSync(dirname(join(folder, path)), { recursive: true });
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

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
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
