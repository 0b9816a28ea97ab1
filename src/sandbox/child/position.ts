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
import { SANDBOX_LIMITS } from '../limits.ts';
import { createErasureMap, type ErasureMap } from './erasure-map.ts';
import { isJson, type Position, type SourceModule } from './source-module.ts';

export interface Located {
  readonly line?: number;
  readonly column?: number;
  readonly filename?: string;
}

/** Maps a position in the compiled text to one in the caller's source. */
export type PositionMapper = (name: string, line: number, column: number) => Position;

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
