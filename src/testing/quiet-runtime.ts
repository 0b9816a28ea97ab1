/** Configures the worker SDK for a test process: it logs errors, and nothing else. */

import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection, Runtime } from '@temporalio/worker';
import { errorMessage } from '../core/value/thrown.ts';
import type { TestServer } from './test-server.ts';

const silent = () => undefined;

function printError(
  message: string,
  { error, stack }: Readonly<Record<string | symbol, unknown>> = {},
): void {
  const why = error === undefined ? '' : `: ${errorMessage(error)}`;
  process.stderr.write(`${message}${why}\n${typeof stack === 'string' ? `${stack}\n` : ''}`);
}

/** Installs the SDK's runtime without signal handlers: signals belong to the program that runs the tests. */
function installQuietly(): void {
  try {
    Runtime.install({
      shutdownSignals: [],
      telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
      logger: {
        trace: silent,
        debug: silent,
        info: silent,
        warn: silent,
        error: printError,
        log: (level, message, meta) => (level === 'ERROR' ? printError(message, meta) : undefined),
      },
    });
  } catch {
    // The process has one already: another test agent's, or the program's own.
  }
}

/** Opens a connection, which the caller must close; the runtime ends with the last connection. */
export async function connectQuietly({ address }: TestServer): Promise<NativeConnection> {
  installQuietly();
  const { connectionOptions } = loadClientConnectConfig();
  return NativeConnection.connect({ ...connectionOptions, address });
}
