/**
 * Finds the files of a project that hold definitions (definitions §2.1), and formats paths. A path determines the kind:
 * `agents/<folder>/<file>`, flat except for `api`, whose folders are part of a route. Only names are read here;
 * `discovery.ts` opens the files.
 */
import { type Dirent, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { DefinitionKind } from './definition-mark.ts';
import type { Problem } from './problem.ts';
import { didYouMean, nearest } from './suggestion.ts';

export const FOLDERS = {
  agents: 'agent',
  prompts: 'prompt',
  models: 'model',
  tools: 'tool',
  hooks: 'hook',
  effects: 'effect',
  policies: 'policy',
  mcp: 'mcp_server',
  a2a: 'a2a_agent',
  tasks: 'task',
  manifests: 'manifest',
  api: 'endpoint',
} as const satisfies Record<string, DefinitionKind>;
const RECURSIVE: readonly string[] = ['api'];
/** Folders of other versions of the contract, and of the reference implementation: what is in them is not supported. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  packed: 'packed agents are not supported. Copy their contents into the folders of this project.',
  handlers:
    'the spec 0.1.0 has no handlers. Each side of an agent runs a prompt; write code as tools, hooks and effects.',
  users: 'the spec 0.1.0 does not support them. Write hooks, or thread endpoints in agents/api.',
};

export interface ProjectFile {
  /** Absolute. */
  readonly path: string;
  /** Relative to the project, with `/`. */
  readonly file: string;
  readonly kind: DefinitionKind;
  /** Path below the folder, without extension, with `/`: the name of a definition that is named after its file. */
  readonly stem: string;
}

const SOURCE = /\.(?:[cm]?[jt]s|[jt]sx)$/;
/** Names of files and folders that are skipped. */
const HIDDEN = /^[_.]/;
const IGNORED = [HIDDEN, /\.d\.[cm]?ts$/, /\.test\.(?:[cm]?[jt]s|[jt]sx)$/, /^(?:CLAUDE|AGENTS)\./];
/** Files that are skipped in one folder only: an index of `hooks` re-exports them, but an index of `api` is a route. */
const IGNORED_THERE: Readonly<Record<string, RegExp>> = { hooks: /^index\.(?:[cm]?[jt]s|[jt]sx)$/ };

export function relativePath(projectDir: string, path: string): string {
  return relative(projectDir, path).split(sep).join('/');
}

/** Sorted by folder and name, so that problems keep their order between runs. */
export function listProjectFiles(projectDir: string): ProjectFile[] {
  return Object.entries(FOLDERS).flatMap(([folder, kind]) => {
    const names = listSources(join(projectDir, 'agents', folder), RECURSIVE.includes(folder));
    const kept = names.filter((name) => !IGNORED_THERE[folder]?.test(name));
    return kept.sort().map((name) => ({
      path: join(projectDir, 'agents', folder, name),
      file: `agents/${folder}/${name}`,
      kind,
      stem: name.replace(SOURCE, ''),
    }));
  });
}

/** Returns paths relative to the folder, with `/`. Links to folders are not followed: they may form a cycle. */
function listSources(folder: string, recursive: boolean): string[] {
  const entries = listEntries(folder);
  const files = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  const sources = files.filter((name) => SOURCE.test(name) && !isIgnored(name));
  if (!recursive) return sources;
  const folders = entries.filter((entry) => entry.isDirectory() && !HIDDEN.test(entry.name));
  const deeper = folders.flatMap(({ name }) =>
    listSources(join(folder, name), true).map((below) => `${name}/${below}`),
  );
  return [...sources, ...deeper];
}

/** Returns what is missing in the layout, before any file is read. */
export function checkLayout(projectDir: string): Problem[] {
  if (listFolders(projectDir).includes('agents')) return [];
  const message =
    'There is no agents/ folder here. Create agents/agents, agents/prompts, agents/models and agents/tools, ' +
    'or run `everthread new` to start with a sample; --project names another folder.';
  return [{ file: 'agents/', message }];
}

/** Warns of folders whose files would otherwise be ignored silently. */
export function warnFolders(projectDir: string): Problem[] {
  return [...warnUnread(projectDir), ...warnDeeper(projectDir)];
}

/** Warns of folders that are not supported, and of those with a name close to a known one. */
function warnUnread(projectDir: string): Problem[] {
  const known = Object.keys(FOLDERS);
  return listFolders(join(projectDir, 'agents')).flatMap((name) => {
    const reason = Object.hasOwn(UNSUPPORTED, name) ? `: ${UNSUPPORTED[name]}` : undefined;
    const isTypo = !known.includes(name) && nearest(name, known) !== undefined;
    const why = reason ?? (isTypo ? `.${didYouMean(name, known)}` : undefined);
    return why === undefined ? [] : [{ file: `agents/${name}/`, message: `is not read${why}` }];
  });
}

/** Warns of subfolders with sources in a flat folder: they may hold definitions, which would not be found. */
function warnDeeper(projectDir: string): Problem[] {
  const flat = Object.keys(FOLDERS).filter((folder) => !RECURSIVE.includes(folder));
  return flat.flatMap((folder) => {
    const message = `is not searched: definitions must be in agents/${folder}/ itself. Move them there; if it holds only helpers, start its name with _`;
    return listFolders(join(projectDir, 'agents', folder))
      .filter((name) => !HIDDEN.test(name))
      .filter((name) => listSources(join(projectDir, 'agents', folder, name), true).length > 0)
      .map((name) => ({ file: `agents/${folder}/${name}/`, message }));
  });
}

function isIgnored(name: string): boolean {
  return IGNORED.some((pattern) => pattern.test(name));
}

/** Returns the names of folders. Symbolic links are included, since they may lead to a folder. */
function listFolders(folder: string): string[] {
  return listEntries(folder)
    .filter((entry) => !entry.isFile())
    .map(({ name }) => name);
}

/** Returns an empty list for a folder that does not exist. */
function listEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
