/**
 * Reads the definitions from a project's files (definitions §2.1). A broken file is a problem and does not stop the
 * others: an author sees all problems of all files at once.
 */
import { type Definition, type DefinitionKind, isDefinition, nameDefinition } from './definition-mark.ts';
import { toLoadProblems } from './load-failure.ts';
import type { ModuleLoader } from './module-loader.ts';
import type { SourcedDefinition } from './name-owner.ts';
import { isDefinitionError, type Problem } from './problem.ts';
import { FOLDERS, type ProjectFile } from './project-file.ts';

export interface Discovery {
  readonly definitions: readonly SourcedDefinition[];
  readonly problems: readonly Problem[];
  /** Files that hold no definition. */
  readonly warnings: readonly Problem[];
  /** Names of the definitions in broken files, if known. */
  readonly unavailable: ReadonlySet<string>;
}

/**
 * Loads one file at a time: files share modules that may still be evaluating. Rejects only if the loader's signal is
 * aborted.
 */
export async function discoverDefinitions(
  projectDir: string,
  files: readonly ProjectFile[],
  loader: ModuleLoader,
  signal?: AbortSignal,
): Promise<Discovery> {
  const definitions: SourcedDefinition[] = [];
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const unavailable = new Set<string>();
  for (const file of files) {
    try {
      const { value, open } = await loader.load(file.path);
      if (open.length > 0) warnings.push({ file: file.file, message: leftOpen(open) });
      const found = readDefault(file, value);
      if ('kind' in found) definitions.push({ file: file.file, definition: found });
      else if ('hint' in found) warnings.push({ file: file.file, message: found.hint });
      else {
        problems.push({ file: file.file, message: found.problem });
        unavailable.add(file.stem);
      }
    } catch (error) {
      signal?.throwIfAborted();
      problems.push(...toLoadProblems(projectDir, file.path, error));
      for (const name of listBrokenNames(file, error)) unavailable.add(name);
    }
  }
  return { definitions, problems: dropDuplicates(problems), warnings, unavailable };
}

function leftOpen(open: readonly string[]): string {
  return (
    `leaves ${open.join(' and ')} open when it is loaded, and once more at every reload. ` +
    'Open it where it is used, or call its unref(), so that commands which only load can end'
  );
}

/** Returns the named definition, a problem, or a hint if the file may be a helper, which is not registered. */
function readDefault(
  file: ProjectFile,
  exports: Readonly<Record<string, unknown>>,
): Definition | { problem: string } | { hint: string } {
  const value = exports.default;
  if (!isDefinition(value)) {
    const lacks = Object.hasOwn(exports, 'default')
      ? 'its default export is not a definition'
      : 'it has no default export';
    // A problem, not a hint: routes and agents may be used by callers alone, so no reference would reveal the mistake.
    const advice = `To define ${describeKind(file.kind)}, export default ${DEFINE_CALLS[file.kind]}; for a helper, start its name with _`;
    if (file.kind === 'endpoint' || file.kind === 'agent')
      return { problem: `is not a valid ${file.kind}, because ${lacks}. ${advice}` };
    return { hint: `is treated as a helper, because ${lacks}. ${advice}` };
  }
  if (value.kind !== file.kind) {
    return {
      problem: `contains ${describeKind(value.kind)}: move it to agents/${folderOf(value.kind)}/`,
    };
  }
  return NAMED_BY_FILE.includes(value.kind) ? nameDefinition(value, file.stem) : value;
}

const NAMED_BY_FILE: readonly DefinitionKind[] = [
  'tool',
  'effect',
  'policy',
  'mcp_server',
  'a2a_agent',
  'task',
  'manifest',
  'endpoint',
];

const DEFINE_CALLS = {
  agent: 'defineAgent({ … })',
  prompt: 'definePrompt({ … })',
  model: 'defineModel({ … })',
  tool: 'defineTool({ … })',
  hook: 'defineHook({ … })',
  effect: "defineEffect('…', async (state) => { … })",
  policy: 'definePolicy({ evaluate: (action) => … })',
  mcp_server: 'defineMcpServer({ … })',
  a2a_agent: 'defineA2aAgent({ … })',
  task: 'defineTask({ observe, decide, act, … })',
  manifest: 'defineManifest({ … })',
  endpoint: 'defineThreadEndpoint(async (request, state, params) => new Response(…))',
} as const satisfies Record<DefinitionKind, string>;

function describeKind(kind: DefinitionKind): string {
  if (kind === 'mcp_server') return 'an MCP server';
  if (kind === 'a2a_agent') return 'an A2A agent';
  return `${/^[ae]/.test(kind) ? 'an' : 'a'} ${kind}`;
}

function folderOf(kind: DefinitionKind): string {
  return Object.entries(FOLDERS).find(([, each]) => each === kind)?.[0] ?? '';
}

/** Names that a broken file defines: that of the file, and that of its definition if it is known. */
function listBrokenNames(file: ProjectFile, error: unknown): string[] {
  const given = isDefinitionError(error) ? error.definitionName : undefined;
  return given === undefined ? [file.stem] : [file.stem, given];
}

/** Removes repeated problems: a broken helper breaks every file that imports it with the same problem. */
function dropDuplicates(problems: readonly Problem[]): Problem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}
