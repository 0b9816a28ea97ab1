/**
 * The sandbox: runs JavaScript and TypeScript that nobody has read, in isolates of supervised child processes
 * (seed 000 §13). A library of its own: it knows neither threads nor Temporal.
 */
import type { RunCode } from '../core/code-execution.ts';
import { createPool, type PoolOptions } from './host/pool.ts';
import { type Run, startRun } from './host/run.ts';

export { chooseWall, NEXT as WALL_NEXT } from './host/wall/choose.ts';
export { isDemanding, WALL_SETTINGS, type Wall, type WallSetting } from './host/wall/wall.ts';
export { SANDBOX_LIMITS } from './limits.ts';

export interface Sandbox {
  /** Opens a scope; `signal` ends it. */
  scope(options?: { readonly signal?: AbortSignal }): SandboxScope;
  /** Ends every run and every child process. */
  close(): Promise<void>;
}

/**
 * Runs that belong together, such as those of one tool call: they end with it, and the functions in their results can
 * be called until then.
 */
export interface SandboxScope {
  readonly runCode: RunCode;
  close(): void;
}

/** Starts no process before the first run. Children that are idle do not keep this process alive. */
export function createSandbox(options: PoolOptions = {}): Sandbox {
  const pool = createPool(options);
  return {
    scope: ({ signal } = {}) => openScope(signal, (source, given) => startRun(pool, source, given)),
    close: () => pool.close(),
  };
}

const CLOSED = 'What the sandbox run belonged to has ended.';

function openScope(
  signal: AbortSignal | undefined,
  start: (source: string, options: unknown) => Run,
): SandboxScope {
  const runs = new Set<Run>();
  let closed: string | undefined;
  const end = (why: string) => {
    closed ??= why;
    signal?.removeEventListener('abort', onAbort);
    for (const run of runs) run.release(closed);
    runs.clear();
  };
  const onAbort = () => end(abortMessage(signal?.reason));
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  return {
    runCode(source, options) {
      const run = start(source, options);
      if (closed === undefined) runs.add(run);
      else run.release(closed);
      return run.execution;
    },
    close: () => end(CLOSED),
  };
}

function abortMessage(reason: unknown): string {
  const { message } = (reason ?? {}) as { message?: unknown };
  return typeof message === 'string' && message !== '' ? `Aborted: ${message}` : 'Aborted.';
}
