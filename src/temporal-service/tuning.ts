/**
 * Detects which recommended settings (`temporal/`) a Temporal server lacks, as far as its API shows: a worker warns of
 * them at its start, and the doctor reports them, in the same words. A server reports only one setting of the dynamic
 * config, which stands for the whole file; the effect of the others can be measured (`everthread doctor`).
 */
import type { Connection } from '@temporalio/client';
import { readServerVersion } from './connect.ts';
import { isAtLeast } from './temporal-version.ts';

export interface UntunedSetting {
  readonly name: 'search attributes' | 'retention' | 'dynamic config';
  readonly found: string;
  readonly next: string;
}

type ServiceConnection = Pick<Connection, 'workflowService' | 'withDeadline'>;

/** The first server version that reports this capability; older servers would seem to lack it. */
const CAPABILITY_VERSION = '1.31.0';
const MIN_RETENTION_S = 24 * 60 * 60;

export function lacksSearchAttributes(missing: readonly string[]): UntunedSetting | undefined {
  if (missing.length === 0) return undefined;
  return {
    name: 'search attributes',
    found: `the server lacks ${missing.join(', ')}`,
    next: 'Threads run, but cannot be filtered by them. A worker registers them if it is permitted to; otherwise follow temporal/README.md.',
  };
}

/** Rejects with the server's error if a request fails. */
export async function findUntunedSettings(
  connection: ServiceConnection,
  namespace: string,
): Promise<UntunedSetting[]> {
  const { config, namespaceInfo } = await connection.workflowService.describeNamespace({ namespace });
  const version = await readServerVersion(connection);
  const untuned: UntunedSetting[] = [];
  const kept = Number(config?.workflowExecutionRetentionTtl?.seconds ?? MIN_RETENTION_S);
  if (kept > 0 && kept < MIN_RETENTION_S)
    untuned.push({
      name: 'retention',
      found: `namespace "${namespace}" deletes workflows ${describeDuration(kept)} after their end`,
      next: `Threads lose nothing, but the Web UI no longer shows those workflows. Keep them for days: temporal operator namespace update -n ${namespace} --retention 720h`,
    });
  const tells = /^\d+\.\d+\.\d+$/.test(version) && isAtLeast(version, CAPABILITY_VERSION);
  if (tells && namespaceInfo?.capabilities?.workerPollCompleteOnShutdown === false)
    untuned.push({
      name: 'dynamic config',
      found:
        'the server does not have frontend.enableCancelWorkerPollsOnShutdown, so most likely none of the settings of temporal/dynamic-config.yaml',
      next:
        'Steps may take ten times as long, and a worker that shuts down may delay a thread by ten seconds. Start the server with that file of this package ' +
        "(docs/production.md shows how); on Temporal Cloud these settings are Temporal's.",
    });
  return untuned;
}

function describeDuration(seconds: number): string {
  return seconds < 3600 ? `${Math.round(seconds / 60)} minutes` : `${Math.round(seconds / 3600)} hours`;
}
