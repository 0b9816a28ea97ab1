/**
 * A fault of an author's code on its way to whoever keeps the project in order: the worker's log. Texts in it are free of
 * secrets already, and bounded; the model reads none of it but the message.
 */
import { LIMITS } from '../core/value/limit.ts';
import { errorMessage, errorStack } from '../core/value/thrown.ts';
import type { AuthorCode } from './author-run.ts';
import type { ThreadEnv } from './thread-env.ts';

export interface AuthorFault {
  readonly code: AuthorCode;
  readonly name: string;
  readonly threadId: string;
  readonly error: string;
  /** With the author's files and lines. */
  readonly stack?: string;
}

export interface ToldFault {
  readonly error: string;
  readonly stack?: string;
}

/** What was thrown, without secrets. Redacted before it is cut: half a secret would not be found. */
export async function tellThrown(env: Pick<ThreadEnv, 'redact'>, thrown: unknown): Promise<ToldFault> {
  const { error = '', stack } = await env.redact({
    status: 'error',
    error: errorMessage(thrown),
    stack: errorStack(thrown),
  });
  return withStack(error.slice(0, LIMITS.faultChars), stack);
}

export function withStack(error: string, stack: string | undefined): ToldFault {
  return { error, ...(stack === undefined ? {} : { stack: cutStack(stack) }) };
}

export function cutStack(stack: string): string {
  return stack.slice(0, LIMITS.faultChars);
}

const FRAME = /^\s*at .*$/gm;

/** Files and lines alone: what may be told of a stack where secrets cannot be taken out of it. */
export function framesOf(stack: string): string {
  return cutStack(stack.match(FRAME)?.join('\n') ?? '');
}

const PLACE = /^\s*at (?:.*\()?(?:file:\/\/)?([^()\n]+:\d+:\d+)\)?$/gm;
/** A file of the project by its path within it, any other by its last two folders. */
const SHOWN = /(?:agents\/[^:]*|[^/:]*\/[^/:]*\/?[^/:]*):\d+:\d+$/;
const PLACE_CHARS = 200;

/** File, line and column of the innermost frame that is no part of Node or of a package, as in `agents/tools/pay.ts:12:5`. */
export function authorPlace(stack: string): string | undefined {
  const places = [...stack.matchAll(PLACE)].map(([, place = '']) => place);
  const own = places.find((place) => !place.startsWith('node:') && !place.includes('/node_modules/'));
  return own === undefined ? undefined : (SHOWN.exec(own)?.[0] ?? own).slice(-PLACE_CHARS);
}
