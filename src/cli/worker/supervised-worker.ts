/** What `everthread worker` and `everthread dev` share: a worker process under supervision, and its messages to people. */
import { extname } from 'node:path';
import { readConfiguration } from '../../configuration.ts';
import { hideSecrets, type Secrets } from '../../secret-environment.ts';
import { SupervisorWatch, supervise } from '../../supervisor/index.ts';
import type { FoundServer } from '../connection/find-server.ts';
import type { Interruption } from '../interruption.ts';
import { createNewsLogger } from '../output/logger.ts';
import { readListenAddress, requireFree } from '../serve/listen-address.ts';
import { serveHealth } from '../serve/serve-health.ts';

export interface WorkerOrder {
  readonly projectDir: string;
  readonly taskQueue?: string;
  readonly json: boolean;
  /** True if changes of the project are reloaded. */
  readonly watch: boolean;
  /** IP address and port where Temporal's SDK serves its metrics. */
  readonly temporalMetrics?: string | undefined;
  readonly secrets: Secrets;
}

export interface ReadyWorker {
  readonly storeId: string;
  readonly taskQueue: string;
  readonly agents: readonly string[];
  /** `http://host:port` of its health and its metrics; absent if they are off. */
  readonly health?: string;
}

export interface SupervisedWorker {
  readonly order: Omit<WorkerOrder, 'secrets' | 'temporalMetrics'>;
  readonly interruption: Interruption;
  readonly server: () => Promise<FoundServer>;
  readonly ready: (worker: ReadyWorker) => void;
  /** Address for health and metrics, as `--health` gives it. Default: the settings. */
  readonly health?: string | undefined;
  /** `host:port` of the debugger of the worker's process. */
  readonly inspect?: string | undefined;
}

/**
 * Settings of a worker under a debugger: while paused it is not taken for lost or for an endless loop. Variables that
 * are set in the environment stay.
 */
const DEBUGGER_SETTINGS = {
  EVERTHREAD_WATCHDOG_MS: '0',
  EVERTHREAD_MODEL_HEARTBEAT_MS: '3600000',
  EVERTHREAD_TOOL_HEARTBEAT_MS: '3600000',
} as const;

const PROGRAM = new URL(`./worker-program${extname(import.meta.url)}`, import.meta.url);

/** Resolves to the exit code, after the first signal or when the process could not be started at all. Throws `InvalidConfiguration`. */
export async function superviseWorker(supervised: SupervisedWorker): Promise<number> {
  const { order, interruption, server, ready, health, inspect } = supervised;
  const watch = new SupervisorWatch();
  // Before anything slow, so that an address in use is reported at once.
  const temporalMetrics = await findMetricsAddress();
  const served = await serveHealth({ watch, stop: interruption.signal, address: health });
  try {
    return await supervise<WorkerOrder, FoundServer, ReadyWorker>({
      program: PROGRAM,
      ...(inspect === undefined
        ? {}
        : { options: { inspect, env: { ...DEBUGGER_SETTINGS, ...setByName() } } }),
      order: { ...order, temporalMetrics, secrets: hideSecrets() },
      server,
      stop: interruption.signal,
      watch,
      ready(worker) {
        interruption.begin();
        ready(served ? { ...worker, health: served.url } : worker);
      },
      tell: createNewsLogger('worker'),
    });
  } finally {
    await served?.close();
  }
}

const TEMPORAL_METRICS = {
  what: "the metrics of Temporal's SDK",
  setting: 'EVERTHREAD_TEMPORAL_METRICS, or unset it',
};

async function findMetricsAddress(): Promise<string | undefined> {
  const { temporalMetrics: given } = readConfiguration();
  if (given === undefined) return undefined;
  const at = await requireFree(readListenAddress(given, TEMPORAL_METRICS), TEMPORAL_METRICS);
  return `${at.family === 'IPv6' ? `[${at.address}]` : at.address}:${at.port}`;
}

function setByName(): Record<string, string> {
  return Object.fromEntries(
    Object.keys(DEBUGGER_SETTINGS).flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
