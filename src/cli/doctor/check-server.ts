/** Checks that ask the Temporal service: version, namespace, search attributes, pollers, the speed of a step. */
import type { Connection } from '@temporalio/client';
import { isPolling } from '../../core/thread/poller.ts';
import { errorMessage } from '../../core/value/error.ts';
import { readServerVersion } from '../../temporal-service/connect.ts';
import { MINIMUM_SERVER_VERSION, readSearchAttributes } from '../../temporal-service/server-settings.ts';
import { isAtLeast } from '../../temporal-service/temporal-version.ts';
import {
  findUntunedSettings,
  lacksSearchAttributes,
  type UntunedSetting,
} from '../../temporal-service/tuning.ts';
import { commandName } from '../command-name.ts';
import type { FoundServer } from '../connection/find-server.ts';
import { type Check, fail, ok, warn } from './check.ts';

/** Milliseconds from which a step is slow: a default server takes 100 or more, one with our dynamic config 10 to 20. */
const SLOW_MS = 60;
const WORKFLOW_QUEUE = 1;
const DEADLINE_MS = 5000;

export async function checkVersion(connection: Connection, { address }: FoundServer): Promise<Check> {
  const version = await readServerVersion(connection);
  const found = `${address}, server ${version || 'of unknown version'}`;
  if (!/^\d+\.\d+\.\d+$/.test(version) || isAtLeast(version, MINIMUM_SERVER_VERSION))
    return ok('temporal', found);
  return fail('temporal', found, `Everthread needs ${MINIMUM_SERVER_VERSION} or newer: update the server.`);
}

export async function checkNamespace(connection: Connection, namespace: string): Promise<Check> {
  try {
    await withTimeout(connection, () => connection.workflowService.describeNamespace({ namespace }));
    return ok('namespace', namespace);
  } catch (error) {
    const next = `Set TEMPORAL_NAMESPACE, or create it: temporal operator namespace create -n ${namespace}`;
    return fail('namespace', `"${namespace}" cannot be used: ${errorMessage(error)}`, next);
  }
}

export async function checkSearchAttributes(connection: Connection, namespace: string): Promise<Check> {
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
export async function checkTuning(connection: Connection, namespace: string): Promise<readonly Check[]> {
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

export async function checkWorkers(
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

export function checkStepSpeed(milliseconds: number): Check {
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
