/**
 * What the host and a sandbox child say to each other over their channel, in order.
 * The child is supervised, not trusted: values are checked when they are decoded, and whatever cannot be read ends
 * the run.
 */
import type { CodeExecutionError, CodeExecutionStatus } from '../core/author/code-execution.ts';
import type { Wire } from './codec/wire.ts';

/** One run, checked and encoded: nothing in it is live. */
export interface Job {
  readonly id: number;
  readonly source: string;
  readonly language: 'typescript' | 'javascript';
  readonly filename: string;
  readonly modules: readonly (readonly [key: string, source: string])[];
  /** What bare specifiers offer; the values are in `inputs`. */
  readonly imports: readonly { readonly specifier: string; readonly keys: readonly string[] }[];
  /** Identifiers at module scope; the values are in `inputs`. */
  readonly globals: readonly string[];
  /** `{ globals, imports, execute: { args } }`, as the caller gave them. */
  readonly inputs: Wire;
  readonly fn: string;
  readonly report: boolean;
  readonly console: boolean;
  readonly memoryBytes: number;
}

/** A call across the boundary, or its answer. `id` pairs the two and belongs to the calling side. */
export type Crossing =
  | { readonly kind: 'call'; readonly id: number; readonly fn: number; readonly wire: Wire }
  | { readonly kind: 'answer'; readonly id: number; readonly ok: boolean; readonly wire: Wire };

/** What the code says besides calls; nothing answers it. */
export type Remark =
  | { readonly kind: 'report'; readonly wire: Wire }
  | { readonly kind: 'log'; readonly level: number; readonly wire: Wire };

export type ToChild =
  | { readonly kind: 'run'; readonly job: Job }
  | { readonly kind: 'crossing'; readonly run: number; readonly crossing: Crossing }
  /** So many crossings and remarks were taken: the sandbox may go on speaking. */
  | { readonly kind: 'taken'; readonly run: number; readonly count: number; readonly bytes: number }
  /** End the run, or let go of an isolate that is held for its result's functions. */
  | { readonly kind: 'stop'; readonly run: number };

export type Settlement =
  | { readonly status: 'success'; readonly wire: Wire; readonly held: boolean }
  | {
      readonly status: Exclude<CodeExecutionStatus, 'success' | 'terminated'>;
      readonly error: CodeExecutionError;
    };

export type FromChild =
  | { readonly kind: 'ready' }
  | { readonly kind: 'crossing'; readonly run: number; readonly crossing: Crossing }
  | { readonly kind: 'remark'; readonly run: number; readonly remark: Remark }
  | {
      readonly kind: 'settled';
      readonly run: number;
      readonly settlement: Settlement;
      readonly memoryUsedBytes?: number;
    }
  /** The isolate is gone and the next run may come. */
  | { readonly kind: 'idle'; readonly run: number; readonly rssBytes: number };

/** Written to the child's standard error, in the instant before it kills itself. */
export const MEMORY_MARK = 'everthread-sandbox: out of memory';

export const LOG_LEVELS = ['log', 'info', 'warn', 'error', 'debug'] as const;
