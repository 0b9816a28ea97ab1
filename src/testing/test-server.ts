/**
 * The Temporal server of test agents: one that is there, else a temporary one in memory.
 * S1. The temporary one is shared by all test agents of the process. It ends a while after the last of them has closed, and with the
 *     process in any case (`owned-process.ts`, I1); it never keeps the process alive.
 * S2. Its log is kept until it is ready, to say why it was not; then nothing of it is on the disk.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfiguration } from '../configuration.ts';
import { findServer } from '../temporal-service/dev-server.ts';
import { findTemporalBinary } from '../temporal-service/find-binary.ts';
import { type LocalServer, startLocalServer } from '../temporal-service/start-server.ts';

export interface TestServer {
  readonly address: string;
  readonly namespace: string;
  /** Nothing of this agent's needs it any more. */
  release(): void;
}

/** The next test of a file opens its agent soon after the last one has closed. */
const LINGER_MS = 10_000;

/** Throws `TemporalUnavailable`, `InvalidConfiguration`. */
export async function useServer(projectDir: string): Promise<TestServer> {
  const silent = () => undefined;
  const found = await findServer({ projectDir, progress: silent, port: readConfiguration().devPort });
  return found ? { ...found, release: silent } : useTemporary();
}

interface Temporary {
  readonly server: Promise<LocalServer>;
  users: number;
  ending?: NodeJS.Timeout;
}

let temporary: Temporary | undefined;

async function useTemporary(): Promise<TestServer> {
  temporary ??= { server: startTemporary(), users: 0 };
  const own = temporary;
  clearTimeout(own.ending);
  own.users += 1;
  const release = () => {
    own.users -= 1;
    if (own.users === 0) own.ending = setTimeout(() => end(own), LINGER_MS).unref();
  };
  try {
    const { address, namespace } = await own.server;
    return { address, namespace, release };
  } catch (error) {
    // The next one tries again.
    if (temporary === own) temporary = undefined;
    throw error;
  }
}

function end(own: Temporary): void {
  if (temporary === own) temporary = undefined;
  void own.server.then((server) => server.stop()).catch(() => undefined);
}

async function startTemporary(): Promise<LocalServer> {
  const progress = (line: string) => void process.stderr.write(`${line}\n`);
  const { path: binary } = await findTemporalBinary({ progress });
  const folder = mkdtempSync(join(tmpdir(), 'everthread-test-'));
  try {
    return await startLocalServer({ binary, headless: true, log: join(folder, 'server.log') });
  } finally {
    // S2: an open file is written to all the same. Where it cannot be removed while it is open, the system's own clean-up finds it.
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {}
  }
}
