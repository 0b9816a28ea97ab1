/** Converts failures of a run into errors for its caller: only names, positions and sources of the caller remain. */

import type { StaticImport } from 'es-module-lexer';
import type { CodeExecutionError } from '../../core/author/code-execution.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import { decode } from '../codec/decode.ts';
import type { Wire } from '../codec/wire.ts';
import { NOT_AN_ERROR } from '../guest/describe.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { type Job, memoryMessage, type Settlement } from '../protocol.ts';
import { createErasureMap, type ErasureMap } from './erasure-map.ts';
import { readImports } from './rewrite.ts';
import { isJson, isSourceError, type Position, positionAt, type SourceModule } from './source-module.ts';

/** The module graph could not be built: status `link_error` (definitions §19.3). */
export class LinkFailure extends Error {
  override readonly name = 'LinkFailure';
  readonly told: CodeExecutionError;

  constructor(told: CodeExecutionError) {
    super(told.message);
    this.told = told;
  }
}

type Sources = ReadonlyMap<string, SourceModule>;

/** Converts any error that compiling or linking threw. */
export function toLinkFailure(error: unknown, sources: Sources): LinkFailure {
  if (error instanceof LinkFailure) return error;
  if (isSourceError(error)) {
    const { name, message, filename, line, column } = error;
    return new LinkFailure({ name, message, filename, ...(line && column ? { line, column } : {}) });
  }
  const { name, message } = readThrown(error);
  const problem = splitCompileMessage(message, [...sources.keys()]);
  const missing = locateMissingExport(problem.message, sources.values());
  if (missing) return new LinkFailure({ name, message: problem.message, ...missing });
  const { filename, line, column } = problem;
  const position = filename && line && column ? createPositionMapper(sources)(filename, line, column) : {};
  return new LinkFailure({ name, message: problem.message, ...(filename ? { filename } : {}), ...position });
}

/** Converts any error that the code threw, or that kept it from running. */
export function toFailure(error: unknown, job: Job, sources: Sources = new Map()): Settlement {
  if (error instanceof LinkFailure) return { status: 'link_error', error: error.told };
  const { name, message, stack } = readThrown(error);
  if (name === 'RangeError' && message === 'Array buffer allocation failed') {
    return { status: 'memory', error: { name: 'MemoryError', message: memoryMessage(job.memoryBytes) } };
  }
  const names = [...sources.keys()];
  const map = createPositionMapper(sources);
  const { filename, line, column } = locate(stack, names, message);
  return {
    status: 'error',
    error: {
      name,
      message,
      ...(stack === '' ? {} : { stack: cleanStack(stack, names, map, message) }),
      ...(filename && line && column ? { filename, ...map(filename, line, column) } : {}),
    },
  };
}

/** Returns what `import()` rejects with: a TypeError for an unknown specifier, as elsewhere; others keep their name. */
export function toDynamicError(
  error: unknown,
  sources: Sources,
): { readonly name: string; readonly message: string; readonly stack?: string } {
  const names = [...sources.keys()];
  if (error instanceof LinkFailure) {
    const { name, message, filename, line, column } = error.told;
    const place = filename && line ? ` (${filename}:${line}:${column ?? 1})` : '';
    return { name: name === 'LinkError' ? 'TypeError' : name, message: message + place };
  }
  const { name, message, stack } = readThrown(error);
  // Positions stay those of the erased text: like all others, they are mapped when the error leaves the isolate.
  const frames = stack === '' ? {} : { stack: cleanStack(stack, names, undefined, message) };
  return { name, message: splitCompileMessage(message, names).message, ...frames };
}

/** Reads the name, message and stack of a thrown value, as the code inside the isolate sent them. */
export function readError(wire: Wire): unknown {
  const { maxBytes, maxElements, maxDepth } = ERROR_TRANSFER;
  const [name, message, stack] = decode(wire, undefined, { maxBytes, maxElements, maxDepth }) as string[];
  return { name, message, stack };
}

const ERROR_TRANSFER = { maxBytes: 1024 * 1024, maxElements: 10, maxDepth: 3 };

/** A message of isolated-vm that is meaningless to authors. */
const UNCOPIED_MESSAGE =
  'An object was thrown from supplied code within isolated-vm, but that object was not an instance of `Error`.';

/** Reads an error from the engine: a copy of any value that can be thrown. */
function readThrown(error: unknown): { name: string; message: string; stack: string } {
  const { name, message, stack } = (error ?? {}) as { name?: unknown; message?: unknown; stack?: unknown };
  const { errorNameLength, errorMessageLength } = SANDBOX_LIMITS;
  if (message === UNCOPIED_MESSAGE) return { name: 'Error', message: NOT_AN_ERROR, stack: '' };
  return {
    name: typeof name === 'string' ? truncate(name, errorNameLength) : 'Error',
    message: truncate(typeof message === 'string' ? message : errorMessage(error), errorMessageLength),
    stack: typeof stack === 'string' ? stack : '',
  };
}

function truncate(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}

/**
 * Finds the position of an error in the caller's sources, and cleans its stack. V8 and isolated-vm write them as:
 *
 *   in a message, only of compile errors     Unexpected token ';' [sandbox:lib/a.ts:2:11]
 *   in a frame                                   at fn (sandbox:lib/a.ts:2:9)
 *                                                at async sandbox:lib/a.ts:2:9
 *   at the boundary of the isolate               at (<isolated-vm boundary>)   and host frames after it
 *
 * Names of sources may contain anything but line breaks, so positions are read from the end, and names are compared
 * with the run's own, the longest first.
 */
interface Located {
  readonly line?: number;
  readonly column?: number;
  readonly filename?: string;
}

/** Maps a position in the compiled text to one in the caller's source. */
type PositionMapper = (name: string, line: number, column: number) => Position;

const SCHEME = 'sandbox:';
const FRAME = '    at ';
const BOUNDARY = '(<isolated-vm boundary>)';
/** Frames of builtins, which have no position. */
const NATIVE = /^(?:.+ \(<anonymous>\)|<anonymous>|async .+ \(index \d+\))$/;

/** Returns the position of the first frame in one of the run's own sources. `message` may contain lines like frames. */
export function locate(stack: string, names: readonly string[], message = ''): Located {
  const ordered = longestFirst(names);
  for (const line of framesOf(splitHeader(stack, message).frames)) {
    const frame = readFrame(line, ordered);
    if (frame) return { filename: frame.name, line: frame.line, column: frame.column };
  }
  return {};
}

/**
 * Keeps the head (name and message), the frames of the run's own sources at the caller's positions, and those of
 * builtins. Host paths, the sandbox's own code and lines that are not frames are removed.
 */
export function cleanStack(
  stack: string,
  names: readonly string[],
  map: PositionMapper = samePosition,
  message = '',
): string {
  const ordered = longestFirst(names);
  const { head, frames } = splitHeader(stack, message);
  const kept = [head];
  let length = head.length;
  for (const line of framesOf(frames)) {
    if (length >= SANDBOX_LIMITS.errorStackLength) break;
    const frame = readFrame(line, ordered);
    const shown = frame ? showFrame(frame, map) : NATIVE.test(line.slice(FRAME.length)) ? line : undefined;
    if (shown === undefined) continue;
    kept.push(shown);
    length += shown.length + 1;
  }
  return kept.join('\n').slice(0, SANDBOX_LIMITS.errorStackLength);
}

/** Separates the position that isolated-vm adds to a compile error's message from the message. */
export function splitCompileMessage(
  message: string,
  names: readonly string[],
): { message: string } & Located {
  const match = /:(\d+):(\d+)\]$/.exec(message);
  if (!match) return { message };
  const head = message.slice(0, match.index);
  // A stack overflow of the parser is reported at 0:0.
  const position = match[1] === '0' ? {} : { line: Number(match[1]), column: Number(match[2]) };
  for (const name of longestFirst(names)) {
    const place = ` [${SCHEME}${name}`;
    if (head.endsWith(place)) return { message: head.slice(0, -place.length), filename: name, ...position };
  }
  // A `sourceURL` comment has set another name, which has no spaces.
  const place = head.lastIndexOf(' [');
  return place === -1 ? { message } : { message: head.slice(0, place), ...position };
}

/** Used only for errors: the first lookup in a TypeScript source costs another erasure. */
export function createPositionMapper(modules: ReadonlyMap<string, SourceModule>): PositionMapper {
  const maps = new Map<string, ErasureMap | undefined>();
  const make = (name: string): ErasureMap | undefined => {
    const module = modules.get(name);
    if (module?.language !== 'typescript' || isJson(module)) return undefined;
    try {
      return createErasureMap(module);
    } catch {
      // The source could not be erased the first time either: the position is already one of the caller's text.
      return undefined;
    }
  };
  return (name, line, column) => {
    if (!maps.has(name)) maps.set(name, make(name));
    return maps.get(name)?.({ line, column }) ?? { line, column };
  };
}

interface Frame extends Position {
  /** Text before the position: `async`, and a function with its opening bracket. */
  readonly before: string;
  readonly name: string;
  readonly after: ')' | '';
}

function readFrame(line: string, ordered: readonly string[]): Frame | undefined {
  const match = /:(\d+):(\d+)(\)?)$/.exec(line);
  if (!match) return undefined;
  const head = line.slice(0, match.index);
  const after = match[3] as ')' | '';
  for (const name of ordered) {
    if (!head.endsWith(`${SCHEME}${name}`)) continue;
    const before = head.slice(FRAME.length, -(SCHEME.length + name.length));
    // Either `fn (` or, for code outside functions, nothing or `async `.
    if (after ? !before.endsWith(' (') : before !== '' && before !== 'async ') continue;
    // A frame of evaluated code contains the position of the `eval`.
    if (before.includes('(eval at ')) return undefined;
    return { before, name, line: Number(match[1]), column: Number(match[2]), after };
  }
  return undefined;
}

function showFrame({ before, name, line, column, after }: Frame, map: PositionMapper): string {
  const at = map(name, line, column);
  return `${FRAME}${before}${SCHEME}${name}:${at.line}:${at.column}${after}`;
}

/** Yields the frames up to the isolate's boundary. A stack may be of any length; no more is read than can be shown. */
function* framesOf(frames: string): Generator<string> {
  for (const line of frames.slice(0, 4 * SANDBOX_LIMITS.errorStackLength).split('\n')) {
    if (line.endsWith(BOUNDARY)) return;
    if (line.startsWith(FRAME)) yield line;
  }
}

/**
 * The head of a stack contains the whole message, unless it was changed since. Lines of it that look like frames appear
 * twice if the error left the isolate: isolated-vm takes the first of them for the beginning of the frames.
 */
function splitHeader(stack: string, message: string): { head: string; frames: string } {
  const start = stack.slice(0, SANDBOX_LIMITS.errorNameLength + message.length + 2);
  const found = message === '' ? -1 : start.indexOf(message);
  if (found === -1) {
    const first = stack.indexOf(`\n${FRAME}`);
    const end = first === -1 ? stack.indexOf('\n') : first;
    return { head: end === -1 ? stack : stack.slice(0, end), frames: first === -1 ? '' : stack.slice(first) };
  }
  const end = found + message.length;
  const likeFrames = message.indexOf(`\n${FRAME}`);
  const again = likeFrames === -1 ? '' : message.slice(likeFrames);
  return {
    head: stack.slice(0, end),
    frames: stack.slice(stack.startsWith(again, end) ? end + again.length : end),
  };
}

function samePosition(_name: string, line: number, column: number): Position {
  return { line, column };
}

function longestFirst(names: readonly string[]): readonly string[] {
  return names.toSorted((a, b) => b.length - a.length);
}

/**
 * Finds where a module imports another. V8 reports no position for linker errors, so it is read from the author's own
 * text; the lexer understands TypeScript too. Used only for errors. Returns the position of the specifier or, with
 * `exportName`, of that name in the clause of the import.
 */
export function locateImport(
  { source }: SourceModule,
  specifier: string,
  exportName?: string,
): Position | undefined {
  for (const each of readImports(source) ?? []) {
    if (each.type !== 'static' && each.type !== 'reexport-star') continue;
    if (each.specifier !== specifier || each.typeOnly) continue;
    // Position of the opening quote.
    if (exportName === undefined) return positionAt(source, each.start - 1);
    const offset = nameOffset(source, each, exportName);
    if (offset !== undefined) return positionAt(source, offset);
  }
  return undefined;
}

interface MissingExport extends Position {
  readonly filename: string;
  readonly specifier: string;
}

/** Parses V8's message about a name that a module does not export, and finds the import that requests it. */
export function locateMissingExport(
  message: string,
  modules: Iterable<SourceModule>,
): MissingExport | undefined {
  const match =
    /^The requested module '(.*)' (?:does not provide an export named|contains conflicting star exports for name) '(.*?)'/s.exec(
      message,
    );
  const [, specifier, name] = match ?? [];
  if (specifier === undefined || name === undefined) return undefined;
  for (const module of modules) {
    const position = locateImport(module, specifier, name);
    if (position) return { ...position, filename: module.name, specifier };
  }
  return undefined;
}

function nameOffset(source: string, { importStart, start }: StaticImport, name: string): number | undefined {
  const clause = source.slice(importStart, start - 1);
  for (const { 0: word, index } of clause.matchAll(/[\w$\u0080-\uffff]+/g)) {
    if (word === name) return importStart + index;
  }
  // A clause that binds the default export does not contain its name.
  const binding = name === 'default' ? /^import\s+(?=[\w$])/.exec(clause) : null;
  return binding ? importStart + binding[0].length : undefined;
}
