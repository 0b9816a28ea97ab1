/**
 * Which Temporal service the commands use: TEMPORAL_ADDRESS or the profile, else the one that `everthread dev` of
 * this project uses (`.everthread/dev.json`), else 127.0.0.1:7233. `dev` itself decides in temporal-service/dev-server.ts.
 */
import type { ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import { readDevFile } from '../../temporal-service/dev-file.ts';
import { LOOPBACK, refusesConnections } from '../../temporal-service/free-port.ts';
import { commandName } from '../command-name.ts';

export interface FoundServer {
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl?: string;
  /** With TLS, API key and headers of the profile. */
  readonly connection: ConnectionOptions & { readonly address: string };
}

/** @throws RuntimeError `InvalidConfiguration` when the settings cannot be read. */
export function findServer(projectDir: string): FoundServer {
  const { connectionOptions, namespace } = readProfile();
  const options = connectionOptions as ConnectionOptions;
  const dev = options.address === undefined ? readDevFile(projectDir) : undefined;
  const address = options.address ?? dev?.address ?? '127.0.0.1:7233';
  return {
    address,
    namespace: namespace ?? dev?.namespace ?? 'default',
    uiUrl: dev?.uiUrl,
    connection: { ...options, address },
  };
}

/**
 * Fails at once when no program listens on this machine, where a client would go on trying. A machine so busy that the connection takes long is not
 * without one.
 */
export async function requireListening(server: FoundServer): Promise<void> {
  const [host, port] = server.address.split(':');
  if (host === LOOPBACK && (await refusesConnections(LOOPBACK, Number(port)))) throw unreachable(server);
}

export function unreachable({ address }: FoundServer, cause?: unknown): RuntimeError {
  return new RuntimeError(
    'TemporalUnavailable',
    `No Temporal server answers at ${address}. Start one with "${commandName()} dev", or set TEMPORAL_ADDRESS to one that runs.`,
    { cause },
  );
}

function readProfile(): ReturnType<typeof loadClientConnectConfig> {
  try {
    return loadClientConnectConfig();
  } catch (cause) {
    throw new RuntimeError(
      'InvalidConfiguration',
      `The settings for Temporal cannot be read: ${errorMessage(cause)}`,
      { cause },
    );
  }
}
