/**
 * Which Temporal service the commands use: TEMPORAL_ADDRESS or the profile, else the one that `everthread dev` of
 * this project uses (`.everthread/dev.json`), else the one at 127.0.0.1:7233 or EVERTHREAD_DEV_PORT, unless it is another project's. `dev` itself
 * decides in temporal-service/dev-server.ts.
 */
import type { ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { readConfiguration } from '../../configuration.ts';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import { readDevFile } from '../../temporal-service/dev-file.ts';
import { LOOPBACK, refusesConnections } from '../../temporal-service/free-port.ts';
import { commandName } from '../command-name.ts';

export interface FoundServer {
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl?: string;
  /** The project that looks for one at the usual port: nobody has named this server. */
  readonly guessedFor?: string;
  /** With TLS, API key and headers of the profile. */
  readonly connection: ConnectionOptions & { readonly address: string };
}

/** @throws RuntimeError `InvalidConfiguration` when the settings cannot be read. */
export function findServer(projectDir: string): FoundServer {
  const { connectionOptions, namespace } = readProfile();
  const options = connectionOptions as ConnectionOptions;
  const dev = options.address === undefined ? readDevFile(projectDir) : undefined;
  const address = options.address ?? dev?.address ?? `${LOOPBACK}:${readConfiguration().devPort}`;
  const isGuess = options.address === undefined && !dev;
  return {
    address,
    namespace: namespace ?? dev?.namespace ?? 'default',
    uiUrl: dev?.uiUrl,
    ...(isGuess ? { guessedFor: projectDir } : {}),
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

/** The folder of another project, whose server was found at the usual port. */
export async function findStranger({
  guessedFor,
  address,
  namespace,
}: FoundServer): Promise<string | undefined> {
  if (guessedFor === undefined) return undefined;
  // It asks the server, with a client that takes a supervisor half of its start to load: a server that was named is not asked.
  const { findOtherOwner } = await import('../../temporal-service/server-owner.ts');
  return findOtherOwner({ address }, namespace, guessedFor);
}

/** What is sent to another project's server would be done by its agents, or by nobody. */
export async function requireOwn(server: FoundServer): Promise<void> {
  const owner = await findStranger(server);
  if (owner === undefined) return;
  throw new RuntimeError(
    'TemporalUnavailable',
    `No Temporal server of this project runs: the one at ${server.address} is that of another project, ${owner}. Start one with ` +
      `"${commandName()} dev", which takes other ports, or set TEMPORAL_ADDRESS to one that runs.`,
  );
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
