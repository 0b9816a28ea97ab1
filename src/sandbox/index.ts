/**
 * The sandbox: runs untrusted JavaScript and TypeScript in isolates of supervised child processes (runtime §13). It is
 * independent of threads and Temporal. Each folder is code for one place, and may import those above it:
 *
 *   codec  encodes values on one side and rebuilds them on the other: in the host and in the isolate
 *   guest  our code inside the isolate: calls of host functions, `report`, `console`, the start of the user's code
 *   child  the process that owns the isolate: erases types, compiles and links the user's modules
 *   host   the worker's side: the pool of children, runs and their options, checks of child messages, walls (`wall`)
 *
 * The files beside them are shared by host and child: the messages (`protocol.ts`), their transport (`channel.ts`,
 * `frame.ts`, `message-frame.ts`), and the limits (`limits.ts`). `host` and `child` run in
 * different processes and communicate only over the channel.
 */
import type { RunCode } from '../core/author/code-execution.ts';
import { Pool, type PoolOptions } from './host/pool.ts';
import { type Run, startRun } from './host/run.ts';
import type { Tenant } from './host/run-queue.ts';
import type { WallSetting } from './host/wall/wall.ts';

export { ENGINE_ADVICE } from './host/run-outcome.ts';
export { chooseWall, WALL_ADVICE } from './host/wall/choose.ts';
export { findAbsent } from './host/wall/readable.ts';
export { isDemanding, WALL_SETTINGS, type Wall, type WallSetting } from './host/wall/wall.ts';
export { SANDBOX_LIMITS } from './limits.ts';

export interface Sandbox {
  /**
   * Opens a scope, which closes when `signal` aborts. `tenant` identifies whose code it runs: a process that has run
   * one tenant's code serves no other, and tenants take turns. A scope without `tenant` counts as a separate tenant.
   */
  scope(options?: { readonly signal?: AbortSignal; readonly tenant?: string }): SandboxScope;
  /** Current numbers of child processes (idle ones included), running programs, and programs waiting for a place. */
  figures(): { readonly children: number; readonly running: number; readonly waiting: number };
  /** Ends every run and every child process. */
  close(): Promise<void>;
}

/**
 * Runs that belong together, such as those of one tool call. Closing the scope ends them; until then, the functions in
 * their results can be called.
 */
export interface SandboxScope {
  readonly runCode: RunCode;
  close(): void;
}

export interface SandboxOptions {
  /** Programs that run at a time, each in its own process. Default: the machine's cores, at least 2. */
  readonly size?: number;
  /** The wall that isolates those processes (docs/sandbox.md). Default: the best available. */
  readonly wall?: WallSetting;
  /** Whether an unused process is kept ready for the next program; default true. */
  readonly spare?: boolean;
}

/**
 * Starts no process before the first run. Idle children do not keep this process alive.
 * @example
 * ```ts
 * const sandbox = createSandbox({ size: 2 });
 * const { status, result } = await sandbox.scope().runCode('export default 6 * 7');
 * await sandbox.close();
 * ```
 */
export function createSandbox(options?: SandboxOptions): Sandbox;
/** Accepts options that only tests use. @internal */
export function createSandbox(options?: PoolOptions): Sandbox;
export function createSandbox(options: PoolOptions = {}): Sandbox {
  const pool = new Pool(options);
  return {
    scope({ signal, tenant: name } = {}) {
      const tenant: Tenant = name ?? Symbol('scope');
      const start: Start = (source, given) => startRun(pool, { tenant, source, options: given });
      return openScope(signal, start, () => {
        if (name === undefined) pool.dismiss(tenant);
      });
    },
    figures: () => pool.figures,
    close: () => pool.close(),
  };
}

type Start = (source: string, options: unknown) => Run;

const CLOSED = 'The work that the sandbox run belonged to has ended.';

function openScope(signal: AbortSignal | undefined, start: Start, onClosed: () => void): SandboxScope {
  const runs = new Set<Run>();
  let closed: string | undefined;
  const end = (why: string) => {
    closed ??= why;
    signal?.removeEventListener('abort', onAbort);
    for (const run of runs) run.release(closed);
    runs.clear();
    onClosed();
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
