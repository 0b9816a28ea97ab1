/**
 * Code execution as callers see it (runtime §13, definitions §19): the shapes of `state.runCode`.
 * Types alone; `sandbox` implements them.
 */

export type CodeExecutionStatus = 'success' | 'error' | 'link_error' | 'memory' | 'terminated';

export interface CodeExecutionOptions {
  /** Types are erased, never checked; applies to `modules` too. Default `typescript`. */
  readonly language?: 'typescript' | 'javascript';
  /** The export to resolve (§13.5). Default `{ fn: 'default', args: [] }`. */
  readonly execute?: { readonly fn?: string; readonly args?: readonly unknown[] };
  /** Exports of modules, by bare specifier. The key `default` becomes the default export. */
  readonly imports?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Sources of relative specifiers (`./a`), which may import each other and `imports`. */
  readonly modules?: Readonly<Record<string, string>>;
  /** Identifiers at module scope, never on `globalThis`. */
  readonly globals?: Readonly<Record<string, unknown>>;
  /** Called with each value that the code gives to `report(value)`; the identifier exists only with it. */
  readonly report?: (value: unknown) => unknown;
  /** Names the source in errors and in `import.meta.url` (`sandbox:<filename>`). Default `<runCode>`. */
  readonly filename?: string;
  /** Bytes of heap. The default, the floor and the ceiling are in `sandbox/limits.ts`. */
  readonly memoryLimitBytes?: number;
}

export interface CodeExecutionError {
  readonly name: string;
  readonly message: string;
  /** Contains frames of sandbox sources only. */
  readonly stack?: string;
  /** Line in the caller's source, from 1. */
  readonly line?: number;
  /** Column in the caller's source, from 1. */
  readonly column?: number;
  readonly filename?: string;
  /** The specifier that did not resolve. */
  readonly specifier?: string;
}

export interface CodeExecutionLog {
  readonly level: 'log' | 'info' | 'warn' | 'error' | 'debug';
  readonly args: readonly unknown[];
  /** Milliseconds since 1970. */
  readonly timestamp: number;
}

export interface CodeExecutionResult {
  readonly status: CodeExecutionStatus;
  /** Only with status `success`. Functions in it can be called until the enclosing tool call ends. */
  readonly result?: unknown;
  /** Set for every status except `success`. */
  readonly error?: CodeExecutionError;
  /** What the code reported, in order; filled for every status. */
  readonly reports: readonly unknown[];
  /** What the code wrote to the console, unless the caller gave one; filled for every status. */
  readonly logs: readonly CodeExecutionLog[];
  /** Milliseconds from the call of `runCode` until it settled, including the wait for a free process. */
  readonly durationMs: number;
  /** Heap in use at the end; absent when it could not be read. */
  readonly memoryUsedBytes?: number;
}

/** A run under way. Awaiting it yields the result; it never rejects. */
export interface CodeExecution extends PromiseLike<CodeExecutionResult> {
  /** Settles the run as `terminated`, at once; `reason` becomes `error.message`. The second call does nothing. */
  terminate(reason?: string): void;
  readonly running: boolean;
  /** Live: grows while the code runs. */
  readonly reports: readonly unknown[];
  /** Resolves to true once the run has a process, and to false when it settled without one. Until then the run waits for a free process. */
  readonly begun: Promise<boolean>;
}

export type RunCode = (source: string, options?: CodeExecutionOptions) => CodeExecution;
