/**
 * Starts a Temporal dev server with our settings; the handle stops, kills and restarts it.
 * - When the promise resolves, the frontend responds, the namespace is ready and the search attributes are registered.
 * - The server never outlives this process (owned-process.ts), and writes to a log file, never to the terminal.
 * - A restart keeps ports, database file and log, so that clients and workers reconnect by themselves.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage, RuntimeError } from '../core/value/error.ts';
import { makeFolders } from '../store/folder/private-files.ts';
import { hasRoom } from '../store/sqlite/disk.ts';
import { waitForNamespace, withConnection } from './connect.ts';
import { fullDisk } from './database-watch.ts';
import { findFreePorts, isListening, LOOPBACK } from './free-port.ts';
import { type OwnedProcess, spawnOwned } from './owned-process.ts';
import { lastLines } from './run-command.ts';
import { ensureSearchAttributes } from './search-attributes.ts';
import { markOwner } from './server-owner.ts';
import { type DynamicConfig, readDynamicConfig, SQLITE_PRAGMAS } from './server-settings.ts';

/** Usually one second; far more on a busy machine with a large database file. */
const READY_WITHIN_MS = 60_000;

export interface LocalServerOptions {
  /** The `temporal` program; see findTemporalBinary. */
  binary: string;
  /** Database file. Without it all data is lost on stop, and restart() begins empty. */
  dbFile?: string;
  port?: number;
  uiPort?: number;
  namespace?: string;
  /** Folder of the project that owns the server, stored in its namespace (server-owner.ts). Default: no owner. */
  owner?: string;
  /** The file to which the server's warnings are appended; by default one in the temporary folder, removed on stop. */
  log?: string;
  /** No Web UI. */
  headless?: boolean;
  /** Port for the server's own metrics (Prometheus). Default: none. */
  metricsPort?: number;
  /** Added to `temporal/dynamic-config.yaml`, and overriding it. */
  extraDynamicConfig?: DynamicConfig;
}

export interface LocalServer {
  /** `host:port` of the frontend. */
  readonly address: string;
  readonly uiUrl: string | undefined;
  readonly namespace: string;
  /** Process id of the running server; changes with restart(). */
  readonly pid: number;
  /** Stops the server gracefully and removes a temporary log. The handle cannot be used afterwards. */
  stop(): Promise<void>;
  /** Kills the server as a crash would (SIGKILL); restart() starts it again. */
  kill(): Promise<void>;
  /** Stops the server if it runs, and starts it again. */
  restart(): Promise<void>;
}

/** @throws RuntimeError `TemporalUnavailable` with the last lines of the log if it exits or does not become ready. */
export async function startLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const plan = await planServer(options);
  let running = await startAndWait(plan).catch((error) => {
    plan.removeLog();
    throw error;
  });
  return {
    address: plan.address,
    uiUrl: plan.uiUrl,
    namespace: plan.namespace,
    get pid() {
      return running.pid;
    },
    async stop() {
      await running.stop();
      plan.removeLog();
    },
    kill: () => running.kill(),
    async restart() {
      await running.stop();
      running = await startAndWait(plan);
    },
  };
}

interface ServerPlan {
  binary: string;
  args: string[];
  port: number;
  address: string;
  uiUrl: string | undefined;
  namespace: string;
  owner: string | undefined;
  log: string;
  removeLog: () => void;
}

async function planServer(options: LocalServerOptions): Promise<ServerPlan> {
  const { binary, namespace = 'default', headless = false, dbFile } = options;
  const [freePort, freeUiPort] = (await findFreePorts(2)) as [number, number];
  const port = options.port ?? freePort;
  const uiPort = options.uiPort ?? freeUiPort;
  if (dbFile !== undefined) makeFolders(dirname(dbFile), 0o700);
  return {
    binary,
    args: serverArguments({ ...options, namespace, headless, port, uiPort }),
    port,
    address: `${LOOPBACK}:${port}`,
    uiUrl: headless ? undefined : `http://${LOOPBACK}:${uiPort}`,
    namespace,
    owner: options.owner,
    ...prepareLog(options.log),
  };
}

type ResolvedOptions = LocalServerOptions & {
  namespace: string;
  headless: boolean;
  port: number;
  uiPort: number;
};

function serverArguments({
  port,
  uiPort,
  namespace,
  headless,
  dbFile,
  metricsPort,
  extraDynamicConfig,
}: ResolvedOptions): string[] {
  const args = ['server', 'start-dev', '--ip', LOOPBACK, '--port', String(port), '--log-level', 'warn'];
  args.push('--namespace', namespace);
  args.push(...(headless ? ['--headless'] : ['--ui-port', String(uiPort), '--ui-disable-news-fetch']));
  if (metricsPort !== undefined) args.push('--metrics-port', String(metricsPort));
  if (dbFile !== undefined) {
    args.push('--db-filename', dbFile);
    for (const [name, value] of Object.entries(SQLITE_PRAGMAS))
      args.push('--sqlite-pragma', `${name}=${value}`);
  }
  for (const [key, value] of Object.entries({ ...readDynamicConfig(), ...extraDynamicConfig })) {
    args.push('--dynamic-config-value', `${key}=${JSON.stringify(value)}`);
  }
  return args;
}

function prepareLog(given: string | undefined): Pick<ServerPlan, 'log' | 'removeLog'> {
  if (given !== undefined) {
    makeFolders(dirname(given), 0o700);
    return { log: given, removeLog: () => {} };
  }
  const folder = mkdtempSync(join(tmpdir(), 'everthread-temporal-'));
  return {
    log: join(folder, 'server.log'),
    removeLog: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function startAndWait(plan: ServerPlan): Promise<OwnedProcess> {
  // Another process on our port would answer in place of ours.
  if (await isListening(LOOPBACK, plan.port)) {
    throw new RuntimeError(
      'TemporalUnavailable',
      `Cannot start a Temporal server: ${plan.address} is already in use.`,
    );
  }
  const server = await spawnOwned(plan.binary, plan.args, plan.log).catch((error) => {
    throw new RuntimeError('TemporalUnavailable', `Cannot start ${plan.binary}: ${errorMessage(error)}.`);
  });
  try {
    await waitUntilReady(plan, server);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function waitUntilReady(plan: ServerPlan, server: OwnedProcess): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  // A gRPC client that meets a closed port waits a second before it retries, so it is made only once the port is open.
  while (!(await isListening(LOOPBACK, plan.port))) {
    if (server.ended !== undefined) throw notReady(plan, `ended with ${server.ended}`);
    if (performance.now() > deadline)
      throw notReady(plan, `did not listen on ${plan.address} within ${READY_WITHIN_MS / 1000} s`);
    await sleep(25);
  }
  await withConnection(
    { address: plan.address, connectTimeout: deadline - performance.now() },
    async (connection) => {
      await waitForNamespace(connection, plan.namespace, deadline - performance.now());
      await ensureSearchAttributes(connection, plan.namespace);
      if (plan.owner !== undefined) await markOwner(connection, plan.namespace, plan.owner);
    },
  );
}

function notReady({ binary, log }: ServerPlan, what: string): RuntimeError {
  // The server's log is on the same disk as its database, so it could not report a full disk.
  const full = hasRoom(dirname(log)) ? '' : ` ${fullDisk(dirname(log))}`;
  return new RuntimeError(
    'TemporalUnavailable',
    `The Temporal server (${binary}) ${what}.${full} Its last lines:\n${lastLines(readFileSync(log, 'utf8'), 8)}`,
  );
}
