/**
 * Converts an error that an author's file threw while it was loaded into problems with file and line: the problems of a
 * define… function, a syntax error, a missing import, or any other error of the file.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorMessage } from '../core/value/error.ts';
import { isDefinitionError, type Problem } from './problem.ts';
import { relativePath } from './project-file.ts';

interface SourcePosition {
  /** Absolute. */
  readonly file: string;
  readonly line?: number;
}

/** `file` is the definition that was being loaded; the cause may be in a file that it imports. */
export function toLoadProblems(projectDir: string, file: string, error: unknown): Problem[] {
  const own = ownFrame(projectDir, error, file);
  const place = (at: SourcePosition) => ({
    file: relativePath(projectDir, at.file),
    ...(at.line !== undefined && { line: at.line }),
  });
  if (isDefinitionError(error)) {
    return error.problems.map((problem) => ({ ...place(own ?? { file }), ...problem }));
  }
  const syntax = syntaxError(error);
  if (syntax !== undefined) return [{ ...place(syntax.place), message: syntax.message }];
  const missing = missingImport(file, error);
  if (missing !== undefined) return [{ ...place(missing.place), message: missing.message }];
  return [{ ...place(own ?? { file }), message: `could not be loaded: ${firstLine(errorMessage(error))}` }];
}

/** Parses an error of jiti's compiler, or of `strict-compiler.ts`: `ParseError: <what> \n <file>:<line>:<column>`. */
function syntaxError(error: unknown): { place: SourcePosition; message: string } | undefined {
  const match = /^(Refused|ParseError|\w*SyntaxError|BABEL\w*): (.*?)\s*\n\s*([^\n]+):(\d+):(\d+)$/s.exec(
    errorMessage(error).trim(),
  );
  if (match === null) return undefined;
  const [, code, what, file, line, column] = match;
  const message =
    code === 'Refused' ? what! : `is not valid TypeScript or JavaScript: ${what} (column ${column})`;
  return { place: { file: file!, line: Number(line) }, message };
}

interface MissingImport {
  readonly name: string;
  readonly importer: string;
  readonly isPackage: boolean;
}

/** Parses an error of Node: `Cannot find module '<name>'`, then the importing files, nearest first. */
export function findMissing(entry: string, error: unknown): MissingImport | undefined {
  const text = errorMessage(error);
  const name = /Cannot find (?:module|package) '([^']+)'/.exec(text)?.[1];
  if (name === undefined) return undefined;
  const importer = /\n- (.+)/.exec(text)?.[1] ?? / imported from (\S+)/.exec(text)?.[1] ?? entry;
  return { name, importer, isPackage: !name.startsWith('.') && !name.startsWith('/') };
}

function missingImport(
  entry: string,
  error: unknown,
): { place: SourcePosition; message: string } | undefined {
  const missing = findMissing(entry, error);
  if (missing === undefined) return undefined;
  const { name, importer, isPackage } = missing;
  const hint = isPackage ? `; is it installed?${describeReferences(importer)}` : '';
  return {
    place: findImport(importer, name, entry),
    message: `imports '${name}', which does not exist${hint}`,
  };
}

/** Only the paths of the nearest tsconfig.json are followed, and of what it extends. */
function describeReferences(importer: string): string {
  for (let folder = dirname(importer); folder !== dirname(folder); folder = dirname(folder)) {
    const text = readLines(join(folder, 'tsconfig.json')).join('\n');
    if (text === '') continue;
    if (!/"references"\s*:/.test(text)) return '';
    return ' If it is in the paths of a tsconfig that tsconfig.json references: those are not followed, so write them in tsconfig.json or extend it';
  }
  return '';
}

/** Finds the line that imports the module, which the error does not name. */
function findImport(importer: string, name: string, entry: string): SourcePosition {
  for (const file of [importer, entry]) {
    const index = readLines(file).findIndex(
      (line) => line.includes(`'${name}'`) || line.includes(`"${name}"`),
    );
    if (index >= 0) return { file, line: index + 1 };
  }
  return { file: entry };
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** Returns the innermost stack frame in the project, preferably in `preferred`; jiti preserves the line numbers. */
function ownFrame(projectDir: string, error: unknown, preferred: string): SourcePosition | undefined {
  const stack = (error as { stack?: unknown } | null | undefined)?.stack;
  const frames = typeof stack === 'string' ? [...stack.matchAll(FRAME)] : [];
  const own = frames
    .map(([, file, line]) => ({ file: file!, line: Number(line) }))
    .filter(({ file }) => isAuthors(projectDir, file));
  return own.find(({ file }) => file === preferred) ?? own[0];
}

/** True for a file of the project. In this repository, the project's folder contains the package's own sources too. */
function isAuthors(projectDir: string, file: string): boolean {
  const isForeign = file.includes(`${sep}node_modules${sep}`) || file.startsWith(PACKAGE);
  return file.startsWith(projectDir + sep) && !isForeign;
}

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

/** `at name (file:line:column)`, `at file:line:column`, `at async …`; a file may have the query of a fresh load. */
const FRAME = /(?:\(|at (?:async )?)(?:file:\/\/)?([^()\s][^()]*?)(?:\?everthread=\d+)?:(\d+):\d+\)?$/gm;

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text;
}
