/**
 * Runs all checks and reports them in order; a check whose precondition failed is skipped. Other processes probe the
 * sandbox, so that check starts first and is awaited at its place. Nothing else runs in this process during the
 * measurement.
 */
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { readConfiguration } from '../../configuration.ts';
import { errorMessage } from '../../core/value/error.ts';
import { commandName } from '../command-name.ts';
import {
  type FoundServer,
  findForeignProject,
  findServer,
  requireListening,
} from '../connection/find-server.ts';
import { installTemporalRuntime } from '../worker/temporal-runtime.ts';
import { type Check, fail, warn } from './check.ts';
import { checkKeys, checkNode, checkProject, checkSandbox, checkStore } from './check-machine.ts';
import {
  checkNamespace,
  checkSearchAttributes,
  checkStepSpeed,
  checkTuning,
  checkVersion,
  checkWorkers,
} from './check-server.ts';
import { measureStep } from './measure-step.ts';

export interface Examination {
  readonly projectDir: string;
  readonly taskQueue?: string;
  /** Called after each check. */
  readonly report: (check: Check) => void;
}

export async function examine({
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
    report(fail('temporal', `nothing answers at ${address}`, next));
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
