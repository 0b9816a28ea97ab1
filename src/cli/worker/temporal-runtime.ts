/** Configures the runtime of the worker SDK for our commands. */
import { Runtime } from '@temporalio/worker';
import type { Configuration } from '../../configuration.ts';
import { createLogger, type WorkerLogger } from '../output/logger.ts';

/**
 * Installs our logger in Temporal, and leaves signals to the command. To be called before anything else of the worker
 * SDK.
 */
export function installTemporalRuntime(log: Configuration['log'], metrics?: string): WorkerLogger {
  const native = { trace: 'TRACE', debug: 'WARN', info: 'WARN', warn: 'WARN', error: 'ERROR' } as const;
  const logger = createLogger(log);
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: { core: native[log.level], other: 'ERROR' }, forward: {} },
      metrics: metrics === undefined ? undefined : { prometheus: { bindAddress: metrics } },
    },
  });
  return logger;
}
