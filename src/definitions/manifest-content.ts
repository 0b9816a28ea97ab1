/** Checks the surfaces of a manifest and reads their content once, when it is defined: each file with a digest. */
import { hash } from 'node:crypto';
import { type Dirent, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { ManifestDocument, ManifestIssue, ManifestSurfaces } from '../core/author/manifest.ts';

/** Surfaces that must be a file. Those in FILE_OR_DIRECTORY may be a file or a directory; all others must be directories. */
const FILES = new Set(['rubric', 'outputSchema', 'rolloutPolicy', 'agentProfile']);
const FILE_OR_DIRECTORY = new Set(['prompt', 'systemPrompt']);
const MAX_FILES = 10_000;
const SKIPPED = /^(?:\.|node_modules$)/;

export function findIssues(repoRoot: string, surfaces: ManifestSurfaces): ManifestIssue[] {
  return Object.entries(surfaces).flatMap(([surface, path]) => {
    const reason = findIssue(repoRoot, surface, path);
    return reason ? [{ surface, path, reason }] : [];
  });
}

function findIssue(repoRoot: string, surface: string, path: string): ManifestIssue['reason'] | undefined {
  const absolute = resolveBelow(repoRoot, path);
  if (absolute === null) return 'outside';
  const found = statSync(absolute, { throwIfNoEntry: false });
  if (!found) return 'missing';
  if (FILE_OR_DIRECTORY.has(surface)) return undefined;
  if (FILES.has(surface)) return found.isFile() ? undefined : 'not-file';
  return found.isDirectory() ? undefined : 'not-directory';
}

/** Returns the absolute path; null if `path` is invalid, absolute, or not below `root`. */
function resolveBelow(root: string, path: string): string | null {
  if (path === '' || path.includes('\0') || isAbsolute(path)) return null;
  const absolute = resolve(root, path);
  const below = relative(root, absolute);
  return below === '' || below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below)
    ? null
    : absolute;
}

export function readSurfaces(repoRoot: string, surfaces: ManifestSurfaces): ManifestDocument['surfaces'] {
  return Object.fromEntries(
    Object.entries(surfaces)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([surface, path]) => [surface, { path, files: digestAll(join(repoRoot, path)) }]),
  );
}

function digestAll(place: string): Record<string, string> {
  if (statSync(place).isFile()) return { '': digest(place) };
  const files = listFiles(place).toSorted().slice(0, MAX_FILES);
  return Object.fromEntries(files.map((file) => [file.split(sep).join('/'), digest(join(place, file))]));
}

function listFiles(folder: string, below = ''): string[] {
  const entries: Dirent[] = readdirSync(join(folder, below), { withFileTypes: true });
  return entries
    .filter(({ name }) => !SKIPPED.test(name))
    .flatMap((entry) => {
      const path = join(below, entry.name);
      if (entry.isDirectory()) return listFiles(folder, path);
      return entry.isFile() ? [path] : [];
    });
}

function digest(file: string): string {
  return hash('sha256', readFileSync(file));
}

const ENDINGS = ['', '.md', '.ts', '.json', '.txt'];

/**
 * Returns the path of a subject of a surface: its first existing file, or `<subject>.md`, where it would be created. If
 * the surface is a file, returns that file. Null if the surface is not declared, or if the path leads out of it.
 * @example
 * ```ts
 * const surfaces = { prompt: 'prompts' };
 * resolveSubject({ repoRoot: '/srv/agents', surfaces }, 'prompt', '../secret'); // null
 * ```
 */
export function resolveSubject(
  { repoRoot, surfaces }: { readonly repoRoot: string; readonly surfaces: ManifestSurfaces },
  surface: string,
  subject: string,
): string | null {
  const declared = Object.hasOwn(surfaces, surface) ? surfaces[surface] : undefined;
  if (declared === undefined) return null;
  const base = resolveBelow(repoRoot, declared);
  if (base === null) return null;
  if (existsSync(base) && statSync(base).isFile()) return base;
  const found = resolveBelow(base, subject);
  if (found === null) return null;
  return ENDINGS.map((ending) => found + ending).find((path) => existsSync(path)) ?? `${found}.md`;
}
