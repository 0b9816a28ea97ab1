/**
 * Messages between the host and a sandbox child, delivered in order over their channel. The child is supervised, not
 * trusted: values are validated when they are decoded, and input that cannot be read ends the run.
 */
import type { CodeExecutionError, CodeExecutionStatus } from '../core/author/code-execution.ts';
import type { Wire } from './codec/wire.ts';

/** One run, validated and encoded: plain data without live objects or functions. */
export interface Job {
  readonly id: number;
  readonly source: string;
  readonly language: 'typescript' | 'javascript';
  readonly filename: string;
  readonly modules: readonly (readonly [key: string, source: string])[];
  /** The export names of each bare specifier; the values are in `inputs`. */
  readonly imports: readonly { readonly specifier: string; readonly keys: readonly string[] }[];
  /** Identifiers bound at module scope; the values are in `inputs`. */
  readonly globals: readonly string[];
  /** `{ globals, imports, execute: { args } }`, as the caller gave them. */
  readonly inputs: Wire;
  readonly fn: string;
  readonly report: boolean;
  readonly console: boolean;
  readonly memoryBytes: number;
}

/** A call across the boundary, or its answer. `id` pairs the two and is assigned by the calling side. */
export type Crossing =
  | { readonly kind: 'call'; readonly id: number; readonly fn: number; readonly wire: Wire }
  | { readonly kind: 'answer'; readonly id: number; readonly ok: boolean; readonly wire: Wire };

/** One-way output of the code: a report or a console entry. It is not answered. */
export type Remark =
  | { readonly kind: 'report'; readonly wire: Wire }
  | { readonly kind: 'log'; readonly level: number; readonly wire: Wire };

export type ToChild =
  | { readonly kind: 'run'; readonly job: Job }
  | { readonly kind: 'crossing'; readonly run: number; readonly crossing: Crossing }
  /** Acknowledges this many crossings and remarks, so that the sandbox may send more. */
  | { readonly kind: 'taken'; readonly run: number; readonly count: number; readonly bytes: number }
  /** Ends the run, or releases an isolate that is held for the functions of its result. */
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
  /** The isolate has been disposed, and the next run may start. */
  | { readonly kind: 'idle'; readonly run: number; readonly rssBytes: number };

/** Written to the child's standard error just before it is killed for its memory. */
export const MEMORY_MARK = 'everthread-sandbox: out of memory';

/** Error message of the status `memory`: names the limit that was in effect, in `bytes` (§13.4 a). */
export function memoryMessage(bytes: number): string {
  return `The code used more than its limit of ${bytes} bytes (${Math.floor(bytes / 1024 / 1024)} MiB) of memory.`;
}

export const LOG_LEVELS = ['log', 'info', 'warn', 'error', 'debug'] as const;
