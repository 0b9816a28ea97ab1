/**
 * The sandbox: runs untrusted JavaScript and TypeScript in isolates of supervised child processes (runtime §13). A library of its own:
 * it knows neither threads nor Temporal. Each folder is code for one place, and may import those above it:
 *
 *   codec  values as text and bytes, written on one side and built anew on the other: in the host and in the isolate
 *   guest  our code inside the isolate: calls of host functions, `report`, `console`, the start of the user's code
 *   child  the process between: erases types, compiles and links the user's modules, owns the isolate
 *   host   the worker's side: the pool of children, runs and their options, what a child may say, the walls around it (`wall`)
 *
 * What stands beside them is what host and child agree on: the messages (`protocol.ts`), how they travel (`channel.ts`, `frame.ts`,
 * `message-frame.ts`, `message-batcher.ts`), and the limits (`limits.ts`). `host` and `child`
 * run in different processes and meet over the channel alone.
 */
import type { RunCode } from '../core/author/code-execution.ts';
import type { Tenant } from './host/line.ts';
import { Pool, type PoolOptions } from './host/pool.ts';
import { type Run, startRun } from './host/run.ts';
import type { WallSetting } from './host/wall/wall.ts';

export { chooseWall, NEXT as WALL_NEXT } from './host/wall/choose.ts';
export { isDemanding, WALL_SETTINGS, type Wall, type WallSetting } from './host/wall/wall.ts';
export { SANDBOX_LIMITS } from './limits.ts';

export interface Sandbox {
  /**
   * Opens a scope; `signal` ends it. `tenant` says whose code it runs: no process that has run one tenant's serves another, and
   * tenants take turns. A scope without one is a tenant of its own.
   */
  scope(options?: { readonly signal?: AbortSignal; readonly tenant?: string }): SandboxScope;
  /** As it is now: child processes, those at rest included; programs that run, and that wait for a place. */
  figures(): { readonly children: number; readonly running: number; readonly waiting: number };
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

export interface SandboxOptions {
  /** Programs at a time, each in a process. Default: the machine's cores, at least 2. */
  readonly size?: number;
  /** What those processes stand behind (docs/sandbox.md). Default: the best there is. */
  readonly wall?: WallSetting;
  /** Whether a process that has run nothing stands ready for the next program; default true. */
  readonly spare?: boolean;
}

/**
 * Starts no process before the first run. Children that are idle do not keep this process alive.
 * @example
 * ```ts
 * const sandbox = createSandbox({ size: 2 });
 * const { status, result } = await sandbox.scope().runCode('export default 6 * 7');
 * await sandbox.close();
 * ```
 */
export function createSandbox(options?: SandboxOptions): Sandbox;
/** With what only tests choose. @internal */
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

const CLOSED = 'What the sandbox run belonged to has ended.';

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
