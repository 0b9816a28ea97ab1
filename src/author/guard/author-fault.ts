/**
 * Faults of author code, as reported to the worker's log. Their texts are redacted and limited in length. The model
 * reads only the message.
 */
import type { TracedWork } from '../../core/event/traced-row.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { errorMessage, errorStack } from '../../core/value/thrown.ts';
import type { ThreadEnv } from '../state/thread-env.ts';
import type { AuthorCode } from './author-run.ts';

export interface AuthorFault {
  readonly code: AuthorCode;
  readonly name: string;
  readonly threadId: string;
  /** The request or the call in which it happened. */
  readonly work?: TracedWork;
  readonly error: string;
  /** Set if the work goes on in spite of it. */
  readonly goesOn?: true;
  /** With the author's files and lines. */
  readonly stack?: string;
}

export interface DescribedFault {
  readonly error: string;
  readonly stack?: string;
}

/** Describes a thrown value without secrets. Redacts before cutting: half a secret would not be found. */
export async function describeThrown(
  env: Pick<ThreadEnv, 'redact'>,
  thrown: unknown,
): Promise<DescribedFault> {
  const { error = '', stack } = await env.redact({
    status: 'error',
    error: errorMessage(thrown),
    stack: errorStack(thrown),
  });
  return withStack(error.slice(0, LIMITS.faultChars), stack);
}

export function withStack(error: string, stack: string | undefined): DescribedFault {
  return { error, ...(stack === undefined ? {} : { stack: cutStack(stack) }) };
}

export function cutStack(stack: string): string {
  return stack.slice(0, LIMITS.faultChars);
}

const FRAME = /^\s*at .*$/gm;

/** Returns only the frames of a stack (files and lines), for stacks that cannot be redacted. */
export function framesOf(stack: string): string {
  return cutStack(stack.match(FRAME)?.join('\n') ?? '');
}

const PLACE = /^\s*at (?:.*\()?(?:file:\/\/)?([^()\n]+:\d+:\d+)\)?$/gm;
/** What a reload appends to the address of a file (definitions/module-loader.ts). */
const RELOADED = /\?everthread=\d+(?=:)/;
/** Matches the path of a project file below `agents/`, or the last two folders of any other file. */
const SHOWN = /(?:agents\/[^:]*|[^/:]*\/[^/:]*\/?[^/:]*):\d+:\d+$/;
const PLACE_CHARS = 200;

/** Returns file, line and column of the innermost frame outside Node and packages, as in `agents/tools/pay.ts:12:5`. */
export function authorPlace(stack: string): string | undefined {
  const places = [...stack.matchAll(PLACE)].map(([, place = '']) => place.replace(RELOADED, ''));
  const own = places.find((place) => !place.startsWith('node:') && !place.includes('/node_modules/'));
  return own === undefined ? undefined : (SHOWN.exec(own)?.[0] ?? own).slice(-PLACE_CHARS);
}
