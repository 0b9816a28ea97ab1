/** Paths of files that went along with a message, in what the other thread is told: each becomes the path of its copy. Pure. */
import { tryFilePath } from '../../../core/file/file-path.ts';

/** By parsed path in the one thread: the path in the other. */
export type CopiedPaths = ReadonlyMap<string, string>;

/** Replaces all in one pass, the longest first: a path may be the beginning of another. Also as JSON within the text writes them. */
export function replaceInText(text: string, paths: CopiedPaths): string {
  if (paths.size === 0) return text;
  const written = new Map(
    [...paths].flatMap(([path, copy]) => [toPair(path, copy), toPair(inJson(path), copy)]),
  );
  const known = [...written.keys()].toSorted((a, b) => b.length - a.length).map(escapePattern);
  return text.replace(new RegExp(known.join('|'), 'g'), (path) => written.get(path) ?? path);
}

/** The same in every text of a JSON value, names of members included. A text that is a path and nothing else may be written as any is. */
export function replaceInValue<T>(value: T, paths: CopiedPaths): T {
  return (paths.size === 0 ? value : replaceIn(value, paths)) as T;
}

function replaceIn(value: unknown, paths: CopiedPaths): unknown {
  if (typeof value === 'string') return paths.get(tryFilePath(value) ?? '') ?? replaceInText(value, paths);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => replaceIn(each, paths));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [replaceInText(name, paths), replaceIn(each, paths)]),
  );
}

const toPair = (path: string, copy: string): [string, string] => [path, copy];

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
