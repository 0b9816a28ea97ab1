/** The killable process of a peer, and the ledger that its effects leave. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PeerOptions } from './peer.ts';

export interface Usage {
  readonly cpuMs: number;
  readonly rssMb: number;
}

export interface PeerWorker {
  readonly can: readonly string[];
  /** What the runtime has reported as failed, in order. */
  readonly failures: readonly string[];
  ask<T = void>(what: string, ...args: readonly unknown[]): Promise<T>;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
}

interface Told {
  readonly ready?: true;
  readonly can?: readonly string[];
  readonly id?: number;
  readonly answer?: unknown;
  readonly failed?: string;
  readonly error?: string;
}

export async function startPeerWorker(
  module: string,
  options: Omit<PeerOptions, 'fail'>,
): Promise<PeerWorker> {
  const log = join(options.folder, 'worker.log');
  const output = openSync(log, 'a');
  const child: ChildProcess = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, 'child.ts'),
      module,
      JSON.stringify(options),
    ],
    { stdio: ['ignore', output, output, 'ipc'], env: { ...process.env, LANGSMITH_TRACING: 'false' } },
  );
  closeSync(output);
  const ended = once(child, 'exit');
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const failures: string[] = [];
  const ready = Promise.withResolvers<readonly string[]>();
  let lost: Error | undefined;
  void ended.then(() => {
    lost = new Error(`The worker has ended: ${readFileSync(log, 'utf8').slice(-2000)}`);
    ready.reject(lost);
    for (const { reject } of waiting.values()) reject(lost);
  });
  child.on('error', () => undefined);
  child.on('message', ({ ready: isReady, can, id, answer, failed, error = '' }: Told) => {
    if (isReady) return ready.resolve(can ?? []);
    if (failed !== undefined) return failures.push(`${failed} ${error}`.trim());
    const asked = waiting.get(id as number);
    waiting.delete(id as number);
    return error === '' ? asked?.resolve(answer) : asked?.reject(new Error(error));
  });
  let ids = 0;
  return {
    can: await ready.promise,
    failures,
    async ask<T>(ask: string, ...args: readonly unknown[]) {
      if (lost) throw lost;
      const id = ++ids;
      const answer = Promise.withResolvers<unknown>();
      waiting.set(id, answer);
      child.send({ id, ask, args });
      return (await answer.promise) as T;
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

export interface Entry {
  readonly what: 'e' | 'd' | 'h' | 'a';
  readonly thread: string;
  readonly n: number;
  readonly at: number;
}

/** Reads whole lines only: a killed process may leave a torn one. */
export function readLedger(path: string, prefix: string): Entry[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.slice(2).startsWith(prefix))
    .map((line) => {
      const [what, thread, ...numbers] = line.split(' ') as [Entry['what'], string, ...string[]];
      return { what, thread, n: what === 'e' ? Number(numbers[0]) : -1, at: Number(numbers.at(-1)) };
    });
}
