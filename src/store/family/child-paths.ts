/** Replaces paths of files that were sent along with a message by those of their copies. Pure. */
import { tryFilePath } from '../../core/file/file-path.ts';

/** The path of each copy, by the parsed path of its source. */
export type CopiedPaths = ReadonlyMap<string, string>;

/** Replaces all in one pass, the longest first, as one path may begin another. JSON-escaped paths are replaced too. */
export function replaceInText(text: string, paths: CopiedPaths): string {
  if (paths.size === 0) return text;
  const written = new Map(
    [...paths].flatMap(([path, copy]) => [toPair(path, copy), toPair(inJson(path), copy)]),
  );
  const known = [...written.keys()].toSorted((a, b) => b.length - a.length).map(escapePattern);
  return text.replace(new RegExp(known.join('|'), 'g'), (path) => written.get(path) ?? path);
}

/**
 * Like `replaceInText`, for all texts and member names of a JSON value. A text that is only a path may have any form.
 */
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
