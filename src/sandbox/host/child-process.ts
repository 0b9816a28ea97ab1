/**
 * One sandbox child as its parent sees it: how it is started, spoken to and killed, and how its end is read.
 * C1. Empty environment but the time zone; nothing of the worker's secrets is there to be found.
 * C2. Node's permission model: no files but the sandbox's own code, no processes, no writing.
 * C3. On Linux the kernel bounds its data segment, below what the child's own watchdog bounds at run time.
 * C4. It ends when the channel closes, and its watchdog thread ends it when the parent is gone.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SANDBOX_LIMITS } from '../limits.ts';
import { createOutbox } from '../outbox.ts';
import { type FromChild, MEMORY_MARK, type ToChild } from '../protocol.ts';

const MAIN = fileURLToPath(new URL(`../child/main${extname(import.meta.url)}`, import.meta.url));
const PACKAGES = ['isolated-vm', 'node-gyp-build', 'sucrase', 'es-module-lexer'];
const KIB = 1024;
/**
 * Node reserves 560 MiB that it does not use, each isolate 650, and there may be three: one running, one made ahead,
 * one on its way out.
 */
const DATA_LIMIT_KIB = (2_560 * KIB * KIB + SANDBOX_LIMITS.memoryCeiling + 128 * KIB * KIB) / KIB;

/** How a child ended. */
export type ChildEnd = { readonly kind: 'memory' } | { readonly kind: 'crashed'; readonly how: string };

export interface SandboxChild {
  readonly pid: number;
  send(message: ToChild): void;
  kill(): void;
  /** While referenced, the child keeps this process alive. */
  ref(): void;
  unref(): void;
  onMessage: (message: FromChild) => void;
  onEnd: (end: ChildEnd) => void;
}

export function spawnChild(): SandboxChild {
  const command = [process.execPath, ...flags(), MAIN];
  const options = {
    env: { TZ: 'UTC' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'] as ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced' as const,
  };
  const limit = 'ulimit -d "$0" 2>/dev/null; exec "$@"';
  const child =
    process.platform === 'linux'
      ? spawn('/bin/sh', ['-c', limit, String(Math.floor(DATA_LIMIT_KIB)), ...command], options)
      : spawn(command[0] as string, command.slice(1), options);
  return supervise(child);
}

function supervise(child: ChildProcess): SandboxChild {
  let stderr = '';
  let failed: Error | undefined;
  const outbox = createOutbox<ToChild>((batch) => {
    // A child that has just died cannot be told anything; its end is about to be.
    if (child.connected) child.send(batch as ToChild[], () => undefined);
  });
  const supervised: SandboxChild = {
    pid: child.pid ?? -1,
    send(message) {
      if (message.kind === 'crossing') outbox.post(message);
      else outbox.send(message);
    },
    kill: () => void child.kill('SIGKILL'),
    ref() {
      child.ref();
      child.channel?.ref();
    },
    unref() {
      child.unref();
      child.channel?.unref();
      (child.stderr as { unref?: () => void } | null)?.unref?.();
    },
    onMessage: () => undefined,
    onEnd: () => undefined,
  };
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-8192);
  });
  child.on('message', (batch) => {
    if (!Array.isArray(batch)) return;
    for (const message of batch) {
      if (typeof message === 'object' && message !== null) supervised.onMessage(message as FromChild);
    }
  });
  child.on('error', (error) => {
    failed = error;
    if (child.pid === undefined) supervised.onEnd({ kind: 'crashed', how: error.message });
  });
  child.on('close', (code, signal) =>
    supervised.onEnd(readEnd(stderr, signal ?? `exit code ${code}`, failed)),
  );
  return supervised;
}

/** The engine's own last words, and those of an allocator that was refused. */
const OUT_OF_MEMORY =
  /(?:FATAL ERROR|# Fatal).*out of memory|Allocation failed - JavaScript heap|std::bad_alloc|Cannot allocate memory/i;

function readEnd(stderr: string, how: string, failed: Error | undefined): ChildEnd {
  if (stderr.includes(MEMORY_MARK) || OUT_OF_MEMORY.test(stderr)) return { kind: 'memory' };
  const said = stderr
    .trim()
    .split('\n')
    .find((line) => /error|denied/i.test(line));
  return { kind: 'crashed', how: [how, failed?.message, said].filter(Boolean).join(': ') };
}

let cachedFlags: readonly string[] | undefined;

function flags(): readonly string[] {
  cachedFlags ??= [
    '--no-node-snapshot',
    // Without it the engine drops the check by which a running loop is ended.
    '--no-turboshaft-loop-unrolling',
    // The engine's binding does not know `import source`, and falls.
    '--no-js-source-phase-imports',
    '--max-old-space-size=256',
    '--disable-warning=SecurityWarning',
    '--disable-warning=ExperimentalWarning',
    '--permission',
    '--allow-addons',
    '--allow-worker',
    // The addon's loader asks whether it is on Alpine.
    '--allow-fs-read=/etc/alpine-release',
    ...readableFolders().map((folder) => `--allow-fs-read=${folder}${sep}*`),
  ];
  return cachedFlags;
}

/** The sandbox's code and the packages that it loads, with what those load: as they are found, and where they really are. */
function readableFolders(): string[] {
  const require = createRequire(import.meta.url);
  const real = PACKAGES.map((name) => {
    const path = realpathSync(require.resolve(name));
    const marker = `${sep}node_modules${sep}`;
    return path.slice(0, path.indexOf(marker) + marker.length - 1);
  });
  const found = (require.resolve.paths('isolated-vm') ?? []).filter((folder) => existsSync(folder));
  // `src` or `dist`: the sandbox imports from `core` beside it.
  return [...new Set([dirname(dirname(dirname(MAIN))), ...real, ...found])];
}
