/** Loads a project: checks its layout, reads its files, and returns the registry of its definitions or all problems. */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Registry } from '../core/author/registry.ts';
import { errorMessage, RuntimeError } from '../core/value/error.ts';
import { discoverDefinitions } from './discovery.ts';
import { createModuleLoader, type LoaderOptions, type ModuleLoader } from './module-loader.ts';
import { formatProblems, type Problem } from './problem.ts';
import { checkLayout, listProjectFiles, relativePath, warnFolders } from './project-file.ts';
import { buildRegistry } from './registry.ts';

export interface LoadedProject {
  /** Complete only when there are no problems. */
  readonly registry: Registry;
  /** Problems that must be fixed before anything runs. */
  readonly problems: readonly Problem[];
  /** What works but may surprise the author. */
  readonly warnings: readonly Problem[];
  /** Every file that was read, imported helpers included, or is imported and missing; relative to the project, with `/`. */
  readonly files: readonly string[];
}

/**
 * Reads `agents/{agents,prompts,models,tools,hooks,effects,policies,mcp,a2a,tasks,manifests,api}` below `projectDir`.
 * Never rejects because of an author's mistake; rejects with the reason of `signal` if that is aborted.
 * Files are read again on each call; `fresh` also reads again what Node itself loaded, such as `.mjs` helpers.
 * @example
 * ```ts
 * const { registry, problems } = await loadProject('/srv/my-agents');
 * if (problems.length === 0) console.log([...registry.agents.keys()]);
 * ```
 */
export async function loadProject(projectDir: string, options: LoaderOptions = {}): Promise<LoadedProject> {
  const root = realPath(resolve(projectDir));
  const missing = checkLayout(root);
  if (missing.length > 0) return failedProject(missing);
  const loader = await tryCreateLoader(root, options);
  if ('message' in loader) return failedProject([loader]);
  const found = await discoverDefinitions(root, listProjectFiles(root), loader, options.signal);
  const built = buildRegistry(found.definitions, found.unavailable);
  return {
    registry: built.registry,
    problems: [...found.problems, ...built.problems],
    warnings: [...warnFolders(root), ...found.warnings, ...built.warnings],
    files: loader.files().map((path) => relativePath(root, path)),
  };
}

/**
 * Loads a project, for callers that cannot continue without it. Rejects with `InvalidDefinitions`, which lists every
 * problem.
 * @example
 * ```ts
 * const { registry } = await requireProject('/srv/my-agents');
 * ```
 */
export async function requireProject(
  projectDir: string,
  options: LoaderOptions = {},
): Promise<LoadedProject> {
  return requireSound(await loadProject(projectDir, options));
}

/** Throws `InvalidDefinitions`, which lists every problem, if there are any. */
export function requireSound(loaded: LoadedProject): LoadedProject {
  if (loaded.problems.length === 0) return loaded;
  throw new RuntimeError('InvalidDefinitions', formatProblems(loaded.problems));
}

/**
 * Returns the names of a project's agents, reading only their files. Undefined if not all names can be determined:
 * there is no `agents/` folder, or a file has a problem (reported by `loadProject`).
 */
export async function readAgentNames(projectDir: string): Promise<readonly string[] | undefined> {
  const root = realPath(resolve(projectDir));
  if (checkLayout(root).length > 0) return undefined;
  const loader = await tryCreateLoader(root, {});
  if ('message' in loader) return undefined;
  const files = listProjectFiles(root).filter(({ kind }) => kind === 'agent');
  const { definitions, problems } = await discoverDefinitions(root, files, loader);
  if (problems.length > 0) return undefined;
  return definitions.flatMap(({ definition }) => (definition.kind === 'agent' ? [definition.name] : []));
}

/** Creates the loader, or returns a problem if tsconfig.json cannot be read: jiti reads it when it starts. */
async function tryCreateLoader(root: string, options: LoaderOptions): Promise<ModuleLoader | Problem> {
  try {
    return await createModuleLoader(root, options);
  } catch (error) {
    return { file: 'tsconfig.json', message: `could not be read: ${errorMessage(error)}` };
  }
}

function failedProject(problems: readonly Problem[]): LoadedProject {
  const registry: Registry = {
    agents: new Map(),
    prompts: new Map(),
    models: new Map(),
    tools: new Map(),
    hooks: new Map(),
    effects: new Map(),
    policies: new Map(),
    mcpServers: new Map(),
    a2aAgents: new Map(),
    tasks: new Map(),
    manifests: new Map(),
    endpoints: new Map(),
  };
  return { registry, problems, warnings: [], files: [] };
}

/** Resolves links: stack frames and module paths are real paths, which are compared to locate problems. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
