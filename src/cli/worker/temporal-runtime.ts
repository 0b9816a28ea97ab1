/** The worker SDK's runtime as our commands use it. */
import { Runtime } from '@temporalio/worker';
import type { Configuration } from '../../configuration.ts';
import { createLogger } from '../output/logger.ts';

/** Installs our logger in Temporal, and leaves signals to the command. Called before anything else of the worker SDK. */
export function installTemporalRuntime(log: Configuration['log']): void {
  const native = { trace: 'TRACE', debug: 'DEBUG', info: 'WARN', warn: 'WARN', error: 'ERROR' } as const;
  Runtime.install({
    logger: createLogger(log),
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: { core: native[log.level], other: 'ERROR' }, forward: {} } },
  });
}
