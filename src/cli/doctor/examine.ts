/**
 * Runs all checks and reports them in order; a check whose precondition failed is skipped. Other processes probe the
 * sandbox, so that check starts first and is awaited at its place. Nothing else runs in this process during the
 * measurement.
 */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { readConfiguration } from '../../configuration.ts';
import { isPolling } from '../../core/thread/poller.ts';
import { errorMessage, isRuntimeError } from '../../core/value/error.ts';
import { escapeControls } from '../../core/value/shown-text.ts';
import { formatProblems, loadProject, ownToolNames } from '../../definitions/index.ts';
import { chooseWall, ENGINE_ADVICE, findAbsent, WALL_ADVICE } from '../../sandbox/index.ts';
import { openStore } from '../../store/open-store.ts';
import { readServerVersion } from '../../temporal-service/connect.ts';
import { MINIMUM_SERVER_VERSION, readSearchAttributes } from '../../temporal-service/server-settings.ts';
import { isAtLeast } from '../../temporal-service/temporal-version.ts';
import {
  findUntunedSettings,
  lacksSearchAttributes,
  type UntunedSetting,
} from '../../temporal-service/tuning.ts';
import { findReason } from '../../temporal-unreachable.ts';
import { commandName } from '../command-name.ts';
import {
  type FoundServer,
  findForeignProject,
  findServer,
  requireListening,
} from '../connection/find-server.ts';
import { isAbsent, showPath, showStore, storeFile } from '../connection/find-store.ts';
import { installTemporalRuntime } from '../worker/temporal-runtime.ts';
import { type Check, fail, ok, warn } from './check.ts';
import { checkTelemetry } from './check-telemetry.ts';
import { loadProbeBundle } from './probe-bundle.ts';
import type { ProbeActivities, probe } from './probe-workflow.ts';

export interface Examination {
  readonly projectDir: string;
  readonly taskQueue?: string;
  /** Called after each check. */
  readonly report: (check: Check) => void;
}

export async function examine(examination: Examination): Promise<void> {
  await examineProject(examination);
  const telemetry = await checkTelemetry(examination.projectDir);
  if (telemetry) examination.report(telemetry);
}

async function examineProject({
  projectDir,
  taskQueue = readConfiguration().taskQueue,
  report,
}: Examination): Promise<void> {
  const sandbox = checkSandbox();
  report(checkNode());
  report(await checkProject(projectDir));
  const { check, storeId } = await checkStore(projectDir);
  report(check);
  report(checkKeys());
  report(await sandbox);
  const server = findServer(projectDir);
  const connection = await connect(server, report);
  if (!connection) return;
  try {
    report(await checkVersion(connection, server));
    const namespace = await checkNamespace(connection, server.namespace);
    report(namespace);
    if (namespace.status === 'fail') return;
    report(await checkSearchAttributes(connection, server.namespace));
    for (const check of await checkTuning(connection, server.namespace)) report(check);
    report(await checkWorkers(connection, { namespace: server.namespace, taskQueue, storeId }));
    report(await measure(server, connection));
  } finally {
    await connection.close();
  }
}

async function connect(server: FoundServer, report: (check: Check) => void): Promise<Connection | undefined> {
  const { address, connection } = server;
  const next = `Start one with "${commandName()} dev", or set TEMPORAL_ADDRESS to a running one.`;
  try {
    await requireListening(server);
    const owner = await findForeignProject(server);
    if (owner !== undefined) {
      report(fail('temporal', `the server at ${address} belongs to another project, ${owner}`, next));
      return undefined;
    }
    return await Connection.connect({ ...connection, connectTimeout: '5 s' });
  } catch {
    const reason = await findReason(connection);
    report(
      fail(
        'temporal',
        reason === undefined ? `nothing answers at ${address}` : `${address}: ${reason}`,
        next,
      ),
    );
    return undefined;
  }
}

async function measure(server: FoundServer, connection: Connection): Promise<Check> {
  const { namespace } = server;
  installTemporalRuntime({ level: 'error', format: 'text' });
  try {
    const native = await NativeConnection.connect(
      server.connection as Parameters<typeof NativeConnection.connect>[0],
    );
    try {
      return checkStepSpeed(await measureStep(native, new Client({ connection, namespace })));
    } finally {
      await native.close();
    }
  } catch (error) {
    return warn(
      'speed',
      `could not be measured: ${errorMessage(error)}`,
      'Check that you are allowed to run workflows on this server.',
    );
  }
}

/** Checks that need no server: Node, the project, its store, model keys. */
const ALL = 1_000_000;

/** The command does not run on a Node that is too old: this tells which one runs it (`bin/everthread.js`). */
function checkNode(): Check {
  return ok('node', `${process.version}, ${process.execPath}`);
}

async function checkProject(projectDir: string): Promise<Check> {
  const { registry, problems, warnings } = await loadProject(projectDir);
  if (problems.length > 0) {
    const next = `Fix these; "${commandName()} validate" checks again.`;
    return fail('project', `definitions have problems:\n${escapeControls(formatProblems(problems))}`, next);
  }
  const found = `agents ${[...registry.agents.keys()].join(', ') || 'none'}; tools ${ownToolNames(registry).join(', ') || 'none'}`;
  if (registry.agents.size === 0) return warn('project', found, 'Put an agent into agents/agents/.');
  if (warnings.length > 0)
    return warn('project', `${found}\n${escapeControls(formatProblems(warnings))}`, 'Check the warnings.');
  return ok('project', found);
}

/** Also returns the store's id, which is part of every worker's identity. */
async function checkStore(projectDir: string): Promise<{ check: Check; storeId?: string }> {
  const address = readConfiguration().store;
  const file = storeFile(address, projectDir);
  const missing = (place: string) => {
    const next = `"${commandName()} dev" creates it; if it should exist, check --project and EVERTHREAD_STORE.`;
    return { check: warn('store', `${place} does not exist yet`, next) };
  };
  try {
    if (file !== undefined && isAbsent(file)) return missing(showPath(file));
    const store = await openStore(address, projectDir, { create: false });
    try {
      const { length } = await store.threads.list({ limit: ALL });
      const place = file === undefined ? store.place : showPath(file);
      return {
        check: ok('store', `${place}, ${length} ${length === 1 ? 'thread' : 'threads'}, id ${store.id}`),
        storeId: store.id,
      };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (isRuntimeError(error, 'ThreadNotFound'))
      return missing(`the store in ${showStore(address, projectDir)}`);
    const next = 'Check EVERTHREAD_STORE and the permissions to read and write there.';
    return { check: fail('store', errorMessage(error), next) };
  }
}

/** Checks only whether keys are set: a key is never printed. */
function checkKeys(env: NodeJS.ProcessEnv = process.env): Check {
  if (env.OPENAI_API_KEY) return ok('model key', 'OPENAI_API_KEY is set');
  if (env.OPENAI_BASE_URL) return ok('model key', 'OPENAI_BASE_URL is set, without a key');
  return warn(
    'model key',
    'OPENAI_API_KEY is not set',
    'Models of openaiCompatible() without their own key need it, in the environment of the worker.',
  );
}

/** Checks the isolation of model-written programs, by a probe and not by what is installed. */
async function checkSandbox(): Promise<Check> {
  const absent = findAbsent();
  if (absent !== undefined) return warn('sandbox', `no code can run here: ${absent}`, ENGINE_ADVICE);
  try {
    const { kind, holds, seccomp, missing } = await chooseWall(readConfiguration().sandboxWall);
    const why = missing.map((better) => `${better.kind}: ${better.why}`).join('; ');
    if (kind === 'none') {
      const reason = why || 'EVERTHREAD_SANDBOX_WALL is "none"';
      return warn('sandbox', `only Node's permission model, no wall of the kernel (${reason})`, WALL_ADVICE);
    }
    const found = `${kind}${seccomp ? ' with a filter of system calls' : ''}; a probe confirmed the protection of ${holds.join(', ')}`;
    if (kind === 'bubblewrap') return ok('sandbox', found);
    return ok('sandbox', `${found}; bubblewrap would filter system calls too (${why || 'not requested'})`);
  } catch (error) {
    return fail('sandbox', errorMessage(error), WALL_ADVICE);
  }
}

/** Checks that ask the Temporal service: version, namespace, search attributes, pollers, the speed of a step. */

/** Milliseconds from which a step is slow: a default server takes 100 or more, one with our dynamic config 10 to 20. */
const SLOW_MS = 60;
const WORKFLOW_QUEUE = 1;
const DEADLINE_MS = 5000;

async function checkVersion(connection: Connection, { address }: FoundServer): Promise<Check> {
  const version = await readServerVersion(connection);
  const found = `${address}, server ${version || 'of unknown version'}`;
  if (!/^\d+\.\d+\.\d+$/.test(version) || isAtLeast(version, MINIMUM_SERVER_VERSION))
    return ok('temporal', found);
  return fail('temporal', found, `Everthread needs ${MINIMUM_SERVER_VERSION} or newer: update the server.`);
}

async function checkNamespace(connection: Connection, namespace: string): Promise<Check> {
  try {
    await withTimeout(connection, () => connection.workflowService.describeNamespace({ namespace }));
    return ok('namespace', namespace);
  } catch (error) {
    const next = `Set TEMPORAL_NAMESPACE, or create it: temporal operator namespace create -n ${namespace}`;
    return fail('namespace', `"${namespace}" cannot be used: ${errorMessage(error)}`, next);
  }
}

async function checkSearchAttributes(connection: Connection, namespace: string): Promise<Check> {
  const wanted = Object.keys(readSearchAttributes());
  try {
    const listed = await withTimeout(connection, () =>
      connection.operatorService.listSearchAttributes({ namespace }),
    );
    const missing = wanted.filter((name) => !(name in (listed.customAttributes ?? {})));
    const lacking = lacksSearchAttributes(missing);
    return lacking ? toWarning(lacking) : ok('search attributes', wanted.join(', '));
  } catch (error) {
    return warn('search attributes', `cannot be listed: ${errorMessage(error)}`, 'Threads run without them.');
  }
}

/** Returns the same warnings as a worker logs at its start. */
async function checkTuning(connection: Connection, namespace: string): Promise<readonly Check[]> {
  try {
    const untuned = await withTimeout(connection, () => findUntunedSettings(connection, namespace));
    if (untuned.length > 0) return untuned.map(toWarning);
    return [ok('settings', 'retention and the visible dynamic config of the server are as required')];
  } catch (error) {
    return [
      warn(
        'settings',
        `cannot be read: ${errorMessage(error)}`,
        'Threads run; their speed is measured below.',
      ),
    ];
  }
}

function toWarning({ name, found, next }: UntunedSetting): Check {
  return warn(name, found, next);
}

async function checkWorkers(
  connection: Connection,
  { namespace, taskQueue, storeId }: { namespace: string; taskQueue: string; storeId: string | undefined },
): Promise<Check> {
  const { pollers } = await withTimeout(connection, () =>
    connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: WORKFLOW_QUEUE,
    }),
  );
  const identities = (pollers ?? [])
    .filter(({ lastAccessTime }) => isPolling(Number(lastAccessTime?.seconds ?? 0) * 1000, Date.now()))
    .map(({ identity }) => identity ?? '');
  const workers = [...new Set(identities)].map((identity) =>
    identity.replace(/^everthread:[0-9a-f-]{36}:/, 'process '),
  );
  if (workers.length === 0) {
    return warn(
      'workers',
      `none on task queue "${taskQueue}"`,
      `Threads wait until there is one: "${commandName()} dev" or "${commandName()} worker".`,
    );
  }
  const foreign =
    storeId !== undefined &&
    identities.some((identity) => identity.startsWith('everthread:') && !identity.includes(storeId));
  const found = `on task queue "${taskQueue}" in the last minute: ${workers.join(', ')}`;
  if (!foreign) return ok('workers', found);
  return fail(
    'workers',
    `${found}; some use another store than this project's`,
    'Give all workers of a queue the same EVERTHREAD_STORE, or each store its own EVERTHREAD_TASK_QUEUE.',
  );
}

function checkStepSpeed(milliseconds: number): Check {
  const found = `${milliseconds.toFixed(1)} ms from one activity to the next`;
  if (milliseconds <= SLOW_MS) return ok('speed', found);
  return warn(
    'speed',
    found,
    'Unless this machine is just very busy, the server has its default dynamic config, which delays every step. Start it with temporal/dynamic-config.yaml of this package (docker-compose.yml shows how).',
  );
}

async function withTimeout<T>(connection: Connection, request: () => Promise<T>): Promise<T> {
  return connection.withDeadline(Date.now() + DEADLINE_MS, request);
}

/**
 * Measures what one activity costs on this server: a separate worker, on its own queue, runs a tiny workflow. A
 * server's dynamic config cannot be queried; its effect can be measured.
 */
const STEP_COUNT = 10;
const TIMEOUT = '30 s';

/** Returns the milliseconds from one activity to the next: a median of ten, so that brief load does not count. */
async function measureStep(connection: NativeConnection, client: Client): Promise<number> {
  const activities: ProbeActivities = { readClock: async () => performance.now() };
  const taskQueue = `everthread-doctor-${randomUUID()}`;
  const worker = await Worker.create({
    connection,
    namespace: client.options.namespace,
    taskQueue,
    activities: { ...activities },
    workflowBundle: await loadProbeBundle(),
  });
  const times = await worker.runUntil(
    client.workflow.execute<typeof probe>('probe', {
      taskQueue,
      workflowId: taskQueue,
      workflowExecutionTimeout: TIMEOUT,
      args: [STEP_COUNT],
    }),
  );
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return gaps.sort((one, other) => one - other)[Math.floor(gaps.length / 2)] ?? 0;
}
