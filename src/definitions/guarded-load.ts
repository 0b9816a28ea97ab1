/**
 * Runs the load of one file of a project so that it ends whatever the file does, and so that what the file leaves open
 * is known.
 * - A file that does not load in time is given up: an `await` at its top level may never settle. Before that a warning
 *   of the process names the file.
 * - `process.exit` in code that loads is an error of the file, and so is a promise that it lets reject: either would end
 *   the process without naming the file. A process that listens to rejections itself is left to do so.
 * - A timer, a connection or a server that is still open is listed: it would keep a process from ending that only loads.
 */
import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface LoadLimits {
  /** Milliseconds after which the file is given up. */
  readonly fileTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export class NeverLoadedError extends Error {
  constructor(ms: number) {
    super(
      `it has not loaded within ${ms / 1000} s. Does it await something at its top level that never comes?`,
    );
  }
}

export interface GuardedLoad<T> {
  readonly value: T;
  /** What the file has opened and not closed, such as `a timer`; each kind once. */
  readonly open: readonly string[];
}

interface Load {
  readonly strays: unknown[];
  readonly opened: Map<number, { readonly kind: string; readonly handle: Handle }>;
}

/** Timers and handles; those without the method keep the process running. */
interface Handle {
  hasRef?(): boolean;
}

/** Milliseconds after which a file that is still loading is named. */
const SLOW_MS = 5_000;

/** What keeps a process running, by the names of Node's async resources. */
const KINDS: Readonly<Record<string, string>> = {
  Timeout: 'a timer',
  TCPWRAP: 'a connection',
  TLSWRAP: 'a connection',
  PIPEWRAP: 'a connection',
  UDPWRAP: 'a connection',
  TCPSERVERWRAP: 'a server',
  PIPESERVERWRAP: 'a server',
  PROCESSWRAP: 'a child process',
  WORKER: 'a thread',
  FSEVENTWRAP: 'a file watcher',
  STATWATCHER: 'a file watcher',
};

/** The load that the current turn of the event loop belongs to. */
const current = new AsyncLocalStorage<Load>();

/** `file` is how the warning names it. Rejects with what the file threw, `NeverLoadedError`, or the signal's reason. */
export async function guardLoad<T>(
  file: string,
  work: () => Promise<T>,
  { fileTimeoutMs, signal }: LoadLimits,
): Promise<GuardedLoad<T>> {
  signal?.throwIfAborted();
  const load: Load = { strays: [], opened: new Map() };
  const { promise: givenUp, reject: giveUp } = Promise.withResolvers<never>();
  const onAbort = () => giveUp(signal?.reason);
  signal?.addEventListener('abort', onAbort);
  const slow = setTimeout(() => {
    process.emitWarning(
      `${file} has been loading for ${SLOW_MS / 1000} s: does it await something at its top level?`,
    );
  }, SLOW_MS);
  const clock = setTimeout(() => giveUp(new NeverLoadedError(fileTimeoutMs)), fileTimeoutMs);
  const stopWatching = watch(load);
  try {
    const value = await Promise.race([current.run(load, work), givenUp]);
    // Node reports rejections behind the turn that left them.
    await nextTurn();
    if (load.strays.length > 0) throw load.strays[0];
    const open = [...load.opened.values()].filter(({ handle }) => handle.hasRef?.() !== false);
    return { value, open: [...new Set(open.map(({ kind }) => kind))] };
  } finally {
    stopWatching();
    clearTimeout(slow);
    clearTimeout(clock);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Loads at work: several may overlap, and the last that ends gives `process.exit` back. */
let watched = 0;
let exit = process.exit;

function exitUnlessLoading(code?: number | string | null): never {
  if (current.getStore() === undefined) return exit.call(process, code);
  throw new Error(`it calls process.exit(${code ?? ''}) while it is loaded`);
}

function watch(load: Load): () => void {
  const hook = createHook({
    init(id, type, _trigger, handle) {
      const kind = KINDS[type];
      if (kind !== undefined && current.getStore() === load) load.opened.set(id, { kind, handle });
    },
    destroy: (id) => void load.opened.delete(id),
  }).enable();
  if (watched++ === 0) {
    exit = process.exit;
    process.exit = exitUnlessLoading;
  }
  const onRejection = (reason: unknown) => {
    if (current.getStore() !== load) throw reason;
    load.strays.push(reason);
  };
  const isHeard = process.listenerCount('unhandledRejection') > 0;
  if (!isHeard) process.on('unhandledRejection', onRejection);
  return () => {
    hook.disable();
    if (--watched === 0) process.exit = exit;
    process.off('unhandledRejection', onRejection);
  };
}
