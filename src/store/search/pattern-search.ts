/** Searches for an untrusted pattern, with a time limit (definitions §22.29): never on the thread that sends heartbeats. */
import { extname } from 'node:path';
import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { withBoundedThread } from './bounded-thread.ts';
import type { FoundLines, FromSearchThread, ToSearchThread } from './protocol.ts';

const THREAD_URL = new URL(`./search-thread${extname(import.meta.url)}`, import.meta.url);

export interface PatternSearch {
  /**
   * Searches a piece of a file. Returns what was found in the file with its last piece (`isLast`), else null. Throws
   * `Timeout`.
   */
  take(data: Uint8Array, isLast: boolean): Promise<FoundLines | null>;
}

/** Runs `work` with a search that may compute for `ms` milliseconds in all, and ends its thread afterwards. */
export function withPatternSearch<T>(
  pattern: string,
  work: (search: PatternSearch) => Promise<T>,
  { ms = LIMITS.grepMs }: { readonly ms?: number } = {},
): Promise<T> {
  return withBoundedThread<ToSearchThread, FromSearchThread, T>(
    {
      url: THREAD_URL,
      first: { kind: 'pattern', pattern },
      ms,
      failed: (why) => new RuntimeError('InvalidValue', `The search for ${show(pattern)} failed: ${why}.`),
      timedOut: () => searchTimeout(pattern, ms),
    },
    (ask) => work({ take: (data, isLast) => ask({ kind: 'chunk', data, isLast }) }),
  );
}

function searchTimeout(pattern: string, ms: number): RuntimeError {
  return new RuntimeError(
    'Timeout',
    `The search for ${show(pattern)} was stopped after ${ms / 1000} seconds; a pattern with nested repetitions may never finish.`,
  );
}

function show(pattern: string): string {
  return JSON.stringify(pattern.length > 100 ? `${pattern.slice(0, 100)}…` : pattern);
}
