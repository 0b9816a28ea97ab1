/**
 * Problems of definitions, as values: a field's problem, a file's problem, and the error that carries
 * all problems of one definition. They are shown to people, so they name the field and the remedy.
 */
import { isRuntimeError, RuntimeError } from '../core/value/error.ts';
import { groupBy } from '../core/value/group-by.ts';

/** One thing wrong inside a definition. */
export interface FieldProblem {
  /** Path of the field, such as `sideA.stopTool` or `tools[2].name`; '' for the definition as a whole. */
  readonly field: string;
  /** Follows the field in a sentence: 'is required', "does not exist. Did you mean 'x'?" */
  readonly message: string;
}

/** One thing wrong in a project. */
export interface Problem {
  /** Relative to the project's folder, with `/` on every system. */
  readonly file: string;
  readonly field?: string;
  /** Counted from 1; absent when not known. */
  readonly line?: number;
  readonly message: string;
}

/**
 * Thrown by the define… functions. `problems` lists everything wrong with that one definition;
 * `loadProject` collects these from all files. Recognise it with `isDefinitionError`, not by class.
 * @example
 * ```ts
 * try {
 *   defineAgent({ name: '', sideA: { prompt: 'talk' } });
 * } catch (error) {
 *   if (isDefinitionError(error)) console.error(error.problems);
 * }
 * ```
 */
export class DefinitionError extends RuntimeError {
  readonly problems: readonly FieldProblem[];
  /** The name that the author gave, if any. */
  readonly definitionName: string | undefined;

  constructor(what: string, problems: readonly FieldProblem[], definitionName?: string) {
    const heading = definitionName === undefined ? what : `${what} '${definitionName}'`;
    super('InvalidDefinitions', `${heading}:\n${problems.map((each) => `  - ${sentence(each)}`).join('\n')}`);
    this.problems = problems;
    this.definitionName = definitionName;
  }
}

/**
 * True for a `DefinitionError`, of this or another copy of the package.
 * @example
 * ```ts
 * try {
 *   registryFrom({ agents: [] });
 * } catch (error) {
 *   if (isDefinitionError(error)) console.error(error.problems);
 * }
 * ```
 */
export function isDefinitionError(error: unknown): error is DefinitionError {
  return (
    isRuntimeError(error, 'InvalidDefinitions') && Array.isArray((error as { problems?: unknown }).problems)
  );
}

/**
 * Problems for a terminal: one paragraph per file, one line per problem, in the order given.
 * @example
 * ```ts
 * const { problems, warnings } = await loadProject('.');
 * console.error(formatProblems([...problems, ...warnings]));
 * ```
 */
export function formatProblems(problems: readonly Problem[]): string {
  const files = groupBy(problems, (problem) => problem.file);
  return [...files].map(([file, found]) => [file, ...found.map(formatLine)].join('\n')).join('\n\n');
}

function formatLine(problem: Problem): string {
  const place = problem.line === undefined ? '' : `line ${problem.line}: `;
  const text = sentence({ field: problem.field ?? '', message: problem.message });
  return `  - ${place}${text.replaceAll('\n', '\n    ')}`;
}

function sentence({ field, message }: FieldProblem): string {
  return field === '' ? message : `${field} ${message}`;
}
