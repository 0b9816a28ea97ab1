/**
 * Decides which Temporal service a project uses on this machine. In order:
 *   1. the user's configuration: TEMPORAL_ADDRESS, or a profile of @temporalio/envconfig;
 *   2. the server that an `everthread dev` of this project started and that still runs (`.everthread/dev.json`);
 *   3. one that responds at 127.0.0.1:7233, or at the port of EVERTHREAD_DEV_PORT, unless it was started for another project;
 *   4. a new one of ours, on the ports of 3 or else on free ones, with its database in the project.
 * - A configured service that cannot be used is an error: nothing else is used in its place.
 * - The database file carries the server's version: an old file under a newer server is not migrated and may break.
 * - Two servers on one database file would damage it: 2 to 4 run under a lock of the project, and while the server of 2
 *   lives, responding or not, no other is started.
 *
 * The folder, by what its files do:
 *   finding a server     this file, which uses `dev-file` and `project-server` (one that another command of the project
 *                        started), `prepare-service` (one that already runs), `server-owner` (whose it is) and `tuning`
 *                        (what it lacks)
 *   starting one         `start-server` with `server-settings` and `search-attributes`; `owned-process` ends it with
 *                        this process, `database-watch` watches its database file and its disk
 *   finding the program  `find-binary`, which uses `temporal-version`, `download-binary`, `build-binary` and
 *                        `cache-folder`
 *   for all              `connect`, `grpc-status`, `file-lock`, `free-port`, `run-command`, `process-command`, `package-root`
 */
import { join } from 'node:path';
import type { ConnectionOptions } from '@temporalio/client';
import { RuntimeError } from '../core/value/error.ts';
import { makeProjectFolder, projectFolder } from '../store/folder/project-folder.ts';
import { readTemporalSettings } from '../temporal-settings.ts';
import { findReason } from '../temporal-unreachable.ts';
import { type DatabaseWatch, watchDatabase } from './database-watch.ts';
import { removeDevFile, writeDevFile } from './dev-file.ts';
import { withFileLock } from './file-lock.ts';
import { findTemporalBinary } from './find-binary.ts';
import { isListening, isPortFree, LOOPBACK } from './free-port.ts';
import { prepareService } from './prepare-service.ts';
import { useProjectServer } from './project-server.ts';
import { findOtherOwner } from './server-owner.ts';
import { type LocalServer, startLocalServer } from './start-server.ts';

/** Default port of `temporal server start-dev`. */
const DEFAULT_PORT = 7233;
const DEFAULT_UI_PORT = 8233;

export interface ResolveOptions {
  projectDir: string;
  progress: (line: string) => void;
  env?: NodeJS.ProcessEnv;
  /** Port that 3 checks, and that 4 listens on if possible (`EVERTHREAD_DEV_PORT`). */
  port?: number;
  uiPort?: number;
  /** Milliseconds that a server of 2 or 3 may take to respond; for tests. */
  answerWithinMs?: number;
}

export interface ResolvedServer {
  address: string;
  namespace: string;
  uiUrl?: string;
  source: 'configured' | 'project' | 'found' | 'started';
  /** Set if this call started the server: the caller must stop it. */
  started?: LocalServer;
  /** Fires when the server that was started has lost its database; its reason is a `StoreLost`. */
  lost?: AbortSignal;
}

/** @throws RuntimeError `TemporalUnavailable`, naming the service and the remedy. */
export async function resolveServer(options: ResolveOptions): Promise<ResolvedServer> {
  const { env = process.env, projectDir, progress } = options;
  const { configured, namespace } = await useConfigured(options);
  if (configured) return configured;
  return withFileLock(
    join(makeProjectFolder(projectDir, progress), 'dev.lock'),
    () => progress('Another command is starting the server of this project: waiting for it'),
    async () =>
      (await useRunningServer(options)) ??
      (await useFoundServer(options, namespace)) ??
      (await startProjectServer({ ...options, env }, namespace)),
  );
}

/**
 * Finds a server of 1 to 3; undefined if there is none. Starts nothing, and does not change the project's folder.
 * @throws RuntimeError `TemporalUnavailable`, as `resolveServer`.
 */
export async function findServer(options: ResolveOptions): Promise<ResolvedServer | undefined> {
  const { configured, namespace } = await useConfigured(options);
  return configured ?? (await useRunningServer(options)) ?? (await useFoundServer(options, namespace));
}

async function useConfigured({
  env,
  progress,
}: ResolveOptions): Promise<{ readonly configured?: ResolvedServer; readonly namespace: string }> {
  const profile = readTemporalSettings({}, env);
  const namespace = profile.namespace ?? 'default';
  const { address } = profile.connectionOptions;
  if (address === undefined) return { namespace };
  // The native and the gRPC-js connection share the fields that a profile can set.
  const connection = profile.connectionOptions as ConnectionOptions & { address: string };
  await prepareConfigured(connection, namespace, progress);
  return { configured: { address, namespace, source: 'configured' }, namespace };
}

async function prepareConfigured(
  connection: ConnectionOptions & { address: string },
  namespace: string,
  progress: (line: string) => void,
): Promise<void> {
  const refusal = await prepareService(connection, namespace, progress);
  if (refusal === undefined) return;
  throw new RuntimeError(
    'TemporalUnavailable',
    `The configured Temporal service at ${connection.address} cannot be used: ${refusal}. ` +
      'Start it, correct TEMPORAL_ADDRESS or the profile, or unset them to let Everthread start a server.',
  );
}

async function useRunningServer(options: ResolveOptions): Promise<ResolvedServer | undefined> {
  const file = await useProjectServer(options);
  if (!file) return undefined;
  const { address, namespace, uiUrl } = file;
  return { address, namespace, uiUrl, source: 'project' };
}

async function useFoundServer(
  options: ResolveOptions,
  namespace: string,
): Promise<ResolvedServer | undefined> {
  const { progress, port = DEFAULT_PORT, uiPort = DEFAULT_UI_PORT, answerWithinMs } = options;
  if (!(await isListening(LOOPBACK, port))) return undefined;
  const address = `${LOOPBACK}:${port}`;
  // Asked first: a gRPC client would take ten seconds to find nothing.
  const reason = await findReason({ address });
  if (reason !== undefined) return void progress(`The service at ${address} cannot be used: ${reason}`);
  const service = { address, ...(answerWithinMs === undefined ? {} : { connectTimeout: answerWithinMs }) };
  const owner = await findOtherOwner(service, namespace, options.projectDir);
  if (owner !== undefined) {
    progress(
      `The Temporal server at ${address} belongs to another project, ${owner}: this one gets a separate server`,
    );
    return undefined;
  }
  const refusal = await prepareService(service, namespace, progress);
  if (refusal !== undefined) {
    progress(`The service at ${address} cannot be used: ${refusal}`);
    return undefined;
  }
  const uiUrl = (await isListening(LOOPBACK, uiPort)) ? `http://${LOOPBACK}:${uiPort}` : undefined;
  return { address, namespace, uiUrl, source: 'found' };
}

async function startProjectServer(
  options: ResolveOptions & { env: NodeJS.ProcessEnv },
  namespace: string,
): Promise<ResolvedServer> {
  const { projectDir, progress, env, port = DEFAULT_PORT, uiPort = DEFAULT_UI_PORT } = options;
  const binary = await findTemporalBinary({ progress, env });
  const usual = (await isPortFree(port)) && (await isPortFree(uiPort));
  const dbFile = join(projectFolder(projectDir), `temporal-${binary.version.server}.db`);
  const server = await startLocalServer({
    binary: binary.path,
    dbFile,
    log: join(projectFolder(projectDir), 'temporal.log'),
    namespace,
    owner: projectDir,
    ...(usual ? { port, uiPort } : {}),
  });
  const { address, uiUrl } = server;
  progress(`Started a Temporal server (${binary.version.server}) at ${address}`);
  const watch = watchDatabase(dbFile, progress);
  const started = keepDevFile(server, projectDir, watch);
  return { address, namespace, uiUrl, source: 'started', started, lost: watch.lost };
}

/** Keeps `.everthread/dev.json` current during the server's life. */
function keepDevFile(server: LocalServer, projectDir: string, watch: DatabaseWatch): LocalServer {
  const write = () =>
    writeDevFile(projectDir, {
      address: server.address,
      namespace: server.namespace,
      uiUrl: server.uiUrl,
      pid: server.pid,
    });
  write();
  let killed = false;
  return {
    address: server.address,
    uiUrl: server.uiUrl,
    namespace: server.namespace,
    get pid() {
      return server.pid;
    },
    async stop() {
      watch.close();
      // Until the server has ended it holds the database file, so other commands must find it. For a killed server
      // `dev.json` is removed first: the server writes no more, and this command may be killed during the wait.
      if (killed) removeDevFile(projectDir, server.pid);
      await server.stop();
      removeDevFile(projectDir, server.pid);
    },
    kill() {
      killed = true;
      return server.kill();
    },
    async restart() {
      await server.restart();
      killed = false;
      write();
    },
  };
}
