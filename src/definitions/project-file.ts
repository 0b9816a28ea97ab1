/**
 * Which files of a project hold definitions (definitions §2.1), and how paths are told. A path says the kind:
 * `agents/<folder>/<file>`, flat. Looks at names alone; `discovery.ts` opens the files.
 */
import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { DefinitionKind } from './brand.ts';
import type { Problem } from './problem.ts';
import { didYouMean, nearest } from './suggestion.ts';

export const FOLDERS = { agents: 'agent', prompts: 'prompt', models: 'model', tools: 'tool' } as const;
/** Folders that the contract knows and this loader leaves to others. */
const OTHER_FOLDERS = ['hooks', 'effects', 'api', 'packed'];

export interface ProjectFile {
  /** Absolute. */
  readonly path: string;
  /** Relative to the project, with `/`. */
  readonly file: string;
  readonly kind: DefinitionKind;
  /** The file's name without its extension. */
  readonly stem: string;
}

const SOURCE = /\.(?:ts|js|mts|mjs)$/;
const IGNORED = [/^_/, /^\./, /\.d\.m?ts$/, /\.test\.m?[tj]s$/, /^(?:CLAUDE|AGENTS)\./];

export function relativePath(projectDir: string, path: string): string {
  return relative(projectDir, path).split(sep).join('/');
}

/** In order of folder and name, so that problems keep their order from run to run. */
export function listProjectFiles(projectDir: string): ProjectFile[] {
  return Object.entries(FOLDERS).flatMap(([folder, kind]) => {
    const parent = join(projectDir, 'agents', folder);
    const found = listNames(parent, 'file').filter((name) => SOURCE.test(name) && !isIgnored(name));
    return found.sort().map((name) => ({
      path: join(parent, name),
      file: `agents/${folder}/${name}`,
      kind,
      stem: name.replace(SOURCE, ''),
    }));
  });
}

/** What is missing from the layout before any file is read. */
export function checkLayout(projectDir: string): Problem[] {
  if (listNames(projectDir, 'folder').includes('agents')) return [];
  const message =
    'There is no agents/ folder here. Create agents/agents, agents/prompts, agents/models and agents/tools, ' +
    'or run `everthread new` to start with a sample; --project names another folder.';
  return [{ file: 'agents/', message }];
}

/** Folders whose names are near to a known one: their files would silently not be loaded. */
export function warnFolders(projectDir: string): Problem[] {
  const known = [...Object.keys(FOLDERS), ...OTHER_FOLDERS];
  const folders = listNames(join(projectDir, 'agents'), 'folder').filter((name) => !known.includes(name));
  return folders
    .filter((name) => nearest(name, known) !== undefined)
    .map((name) => ({ file: `agents/${name}/`, message: `is not read.${didYouMean(name, known)}` }));
}

function isIgnored(name: string): boolean {
  return IGNORED.some((pattern) => pattern.test(name));
}

/** Nothing for a folder that is not there; symbolic links count as what they lead to, or as files. */
function listNames(folder: string, kind: 'file' | 'folder'): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries
      .filter((entry) => (kind === 'folder' ? !entry.isFile() : !entry.isDirectory()))
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
