/** The worker SDK's runtime as our commands use it. */
import { Runtime } from '@temporalio/worker';
import type { Configuration } from '../../configuration.ts';
import { createLogger } from '../output/logger.ts';

/** Makes our logger Temporal's, and leaves signals to the command. Before anything else of the worker SDK. */
export function installTemporalRuntime(log: Configuration['log']): void {
  const native = { trace: 'TRACE', debug: 'DEBUG', info: 'WARN', warn: 'WARN', error: 'ERROR' } as const;
  Runtime.install({
    logger: createLogger(log),
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: { core: native[log.level], other: 'ERROR' }, forward: {} } },
  });
}
