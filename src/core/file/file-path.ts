/**
 * Paths of a thread's files (definitions §18): absolute, one `/` between names, none at the end. A path is the key of a
 * row in its thread and never a place on a disk; `.` and `..` are refused nevertheless.
 */
import { RuntimeError } from '../value/error.ts';
import { LIMITS, utf8Length } from '../value/limit.ts';
import { isStorable } from '../value/storable-text.ts';

const TOO_LONG = `it is longer than ${LIMITS.filePathBytes} bytes`;

/** Throws `InvalidPath`. */
export function parseFilePath(path: string): string {
  if (typeof path !== 'string') throw invalidPath(path, 'a path must be a string');
  // Longer texts could not become short enough, and normalising costs time in proportion to their length.
  if (path.length > 4 * LIMITS.filePathBytes) throw invalidPath(path, TOO_LONG);
  if (/\p{Cc}/u.test(path) || !isStorable(path)) {
    throw invalidPath(path, 'a path must not contain control characters or invalid Unicode');
  }
  const names = path.split('/').filter((name) => name !== '');
  for (const name of names) {
    if (name === '.' || name === '..') throw invalidPath(path, `a path must not contain "${name}" as a name`);
    if (utf8Length(name) > LIMITS.fileNameBytes) {
      throw invalidPath(path, `a name in it is longer than ${LIMITS.fileNameBytes} bytes`);
    }
  }
  const parsed = `/${names.join('/')}`;
  if (utf8Length(parsed) > LIMITS.filePathBytes) throw invalidPath(path, TOO_LONG);
  return parsed;
}

/** Undefined for text that is not a valid path: no file can have it. */
export function tryFilePath(given: string): string | undefined {
  try {
    return parseFilePath(given);
  } catch {
    return undefined;
  }
}

function invalidPath(path: unknown, why: string): RuntimeError {
  const text = String(path);
  const shown = JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
  return new RuntimeError('InvalidPath', `${shown} cannot be the path of a file: ${why}.`);
}

/** The directory of a parsed path; for `/` it is `/`. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}

/** The last name of a parsed path; for `/` it is `/`. */
export function nameOf(path: string): string {
  return path === '/' ? path : path.slice(path.lastIndexOf('/') + 1);
}

/** The directories above a parsed path, from the top, without `/`. */
export function ancestorsOf(path: string): string[] {
  const names = path.split('/').slice(1, -1);
  return names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`);
}
