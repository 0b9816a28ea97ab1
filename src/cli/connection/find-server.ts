/**
 * Finds the Temporal service that the commands use: TEMPORAL_ADDRESS or the profile, else the one that `everthread dev`
 * of this project uses (`.everthread/dev.json`), else the one at 127.0.0.1:7233 or EVERTHREAD_DEV_PORT, unless it
 * belongs to another project. `dev` itself decides in temporal-service/dev-server.ts.
 */
import type { ConnectionOptions } from '@temporalio/client';
import { readConfiguration } from '../../configuration.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { readDevFile } from '../../temporal-service/dev-file.ts';
import { LOOPBACK, refusesConnections } from '../../temporal-service/free-port.ts';
import { readTemporalSettings } from '../../temporal-settings.ts';
import { explainUnreachable } from '../../temporal-unreachable.ts';
import { commandName } from '../command-name.ts';

export interface FoundServer {
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl?: string;
  /** Folder of this project; set only if nothing configures the server, and the usual port is a guess. */
  readonly guessedFor?: string;
  /** Connection options, with TLS, API key and headers of the profile. */
  readonly connection: ConnectionOptions & { readonly address: string };
}

/** @throws RuntimeError `InvalidConfiguration` if the settings cannot be read. */
export function findServer(projectDir: string): FoundServer {
  const { connectionOptions, namespace } = readTemporalSettings();
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
 * Throws at once if nothing listens at a loopback address, where a client would keep retrying. A slow connection to a
 * busy machine is not a failure.
 */
export async function requireListening(server: FoundServer): Promise<void> {
  const [host, port = '7233'] = server.address.split(':');
  if (host === LOOPBACK && (await refusesConnections(LOOPBACK, Number(port))))
    throw await serverUnreachable(server);
}

/** Returns the folder of another project if it owns the server found at the usual port. */
export async function findForeignProject({
  guessedFor,
  address,
  namespace,
}: FoundServer): Promise<string | undefined> {
  if (guessedFor === undefined) return undefined;
  // Imported only here: its client takes half of a supervisor's start-up time. A server that was configured is not
  // queried.
  const { findOtherOwner } = await import('../../temporal-service/server-owner.ts');
  return findOtherOwner({ address }, namespace, guessedFor);
}

/** Throws `TemporalUnavailable` for another project's server: its agents, or none, would handle what is sent there. */
export async function requireOwn(server: FoundServer): Promise<void> {
  const owner = await findForeignProject(server);
  if (owner === undefined) return;
  throw new RuntimeError(
    'TemporalUnavailable',
    `No Temporal server of this project is running: the one at ${server.address} belongs to another project, ${owner}. Start one with ` +
      `"${commandName()} dev", which uses other ports, or set TEMPORAL_ADDRESS to a running one.`,
  );
}

export function serverUnreachable({ connection }: FoundServer, cause?: unknown): Promise<RuntimeError> {
  return explainUnreachable(connection, cause, commandName());
}
