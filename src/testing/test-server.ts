/**
 * The Temporal server of test agents: an existing one, else a temporary one in memory.
 * - The temporary server is shared by all test agents of the process. It ends a while after the last of them has
 *   closed, and with the process in any case (`owned-process.ts`, I2); it never keeps the process alive.
 * - The server's log file exists only until the server is ready, to explain a failed start; then it is deleted.
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
  /** Must be called when the agent no longer needs the server. */
  release(): void;
}

/** Milliseconds that an unused server stays alive: the next test of a file soon opens another agent. */
const LINGER_MS = 10_000;

/** Throws `TemporalUnavailable`, `InvalidConfiguration`. */
export async function useServer(projectDir: string): Promise<TestServer> {
  const silent = () => undefined;
  const found = await findServer({ projectDir, progress: silent, port: readConfiguration().devPort });
  return found ? { ...found, release: silent } : useTemporary();
}

interface TemporaryServer {
  readonly server: Promise<LocalServer>;
  users: number;
  ending?: NodeJS.Timeout;
}

let temporaryServer: TemporaryServer | undefined;

async function useTemporary(): Promise<TestServer> {
  temporaryServer ??= { server: startTemporary(), users: 0 };
  const own = temporaryServer;
  clearTimeout(own.ending);
  own.users += 1;
  const release = () => {
    own.users -= 1;
    if (own.users === 0) own.ending = setTimeout(() => endTemporary(own), LINGER_MS).unref();
  };
  try {
    const { address, namespace } = await own.server;
    return { address, namespace, release };
  } catch (error) {
    // The next agent tries again.
    if (temporaryServer === own) temporaryServer = undefined;
    throw error;
  }
}

function endTemporary(own: TemporaryServer): void {
  if (temporaryServer === own) temporaryServer = undefined;
  void own.server.then((server) => server.stop()).catch(() => undefined);
}

async function startTemporary(): Promise<LocalServer> {
  const progress = (line: string) => void process.stderr.write(`${line}\n`);
  const { path: binary } = await findTemporalBinary({ progress });
  const folder = mkdtempSync(join(tmpdir(), 'everthread-test-'));
  try {
    return await startLocalServer({ binary, headless: true, log: join(folder, 'server.log') });
  } finally {
    // The server keeps writing to the removed file. A system that cannot remove an open file cleans up its
    // temporary folder later.
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {}
  }
}
