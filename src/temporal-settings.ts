/**
 * Temporal's settings: what a program gives by itself, else `TEMPORAL_*` and the profile, which @temporalio/envconfig reads.
 * - Checked before anything connects: envconfig takes any text for false, and passes over a missing file and half a
 *   client certificate.
 */
import { accessSync, constants } from 'node:fs';
import { type ClientConnectConfig, loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';
import { errorMessage, isRuntimeError, RuntimeError } from './core/value/error.ts';
import { type Environment, givenVariables } from './secret-environment.ts';

/** What a program gives by itself; what is absent is read from the environment. */
export interface GivenSettings {
  /** `host:port`. */
  readonly address?: string | undefined;
  readonly namespace?: string | undefined;
  readonly taskQueue?: string | undefined;
}

/** Throws `InvalidConfiguration` for a setting that cannot be used; it names the variable or the option. */
export function readTemporalSettings(
  { address, namespace, taskQueue }: GivenSettings = {},
  environment: Environment = process.env,
): ClientConnectConfig {
  for (const [name, text] of Object.entries({ address, namespace, taskQueue }))
    if (text?.trim() === '') throw refusal(`The option ${name} is blank: give a value, or leave it out.`);
  const read = readProfile(environment);
  const { connectionOptions } = read;
  const used = address ?? connectionOptions.address;
  if (used !== undefined) requireAddress(used);
  return {
    namespace: namespace ?? read.namespace,
    connectionOptions: { ...connectionOptions, address: used },
  };
}

/** An empty header removes that of the profile; every other variable that is empty counts as absent. */
const HEADER = /^TEMPORAL_GRPC_META_/;
const UNVERIFIED = 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION';
const BOOLEANS = ['TEMPORAL_TLS', UNVERIFIED];
const PATHS = [
  'TEMPORAL_CONFIG_FILE',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_KEY_PATH',
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
];

function readProfile(environment: Environment): ClientConnectConfig {
  const headers = Object.entries(environment).filter(([name]) => HEADER.test(name));
  const variables = {
    ...givenVariables(environment),
    ...(Object.fromEntries(headers) as Record<string, string>),
  };
  for (const name of BOOLEANS) requireBoolean(name, variables[name]);
  if (/^(1|true)$/.test(variables[UNVERIFIED] ?? ''))
    throw refusal(
      `${UNVERIFIED} is not supported by Temporal's SDK: name the server's certificate by TEMPORAL_TLS_SERVER_CA_CERT_PATH, or its host by TEMPORAL_TLS_SERVER_NAME.`,
    );
  for (const name of PATHS) requireReadable(name, variables[name]);
  try {
    const profile = loadClientConfigProfile({ overrideEnvVars: variables });
    const { clientCert, clientKey } = profile.tls ?? {};
    if (!clientCert !== !clientKey)
      throw refusal(
        `Temporal's client ${clientCert ? 'certificate has no key' : 'key has no certificate'}: set both TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH (or …_DATA), or neither.`,
      );
    return toClientOptions(profile);
  } catch (cause) {
    if (isRuntimeError(cause)) throw cause;
    // A file without profiles is a TypeError.
    const why =
      (cause as Error).name === 'TypeError' ? 'their file has no [profile.default]' : errorMessage(cause);
    throw refusal(`The settings for Temporal cannot be read: ${why}`, cause);
  }
}

function requireBoolean(name: string, text: string | undefined): void {
  if (text === undefined || ['true', 'false', '1', '0'].includes(text)) return;
  throw refusal(`${name} is "${text}": it must be true or false.`);
}

function requireReadable(name: string, path: string | undefined): void {
  if (path === undefined) return;
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    throw refusal(
      `${name} names a file that cannot be read: ${errorMessage(cause)}. Correct it, or unset it.`,
      cause,
    );
  }
}

const ADDRESS = /^(?:[^\s:/[\]]+|\[[\da-f:.]+\])(?::(\d+))?$/i;

/** Throws `InvalidConfiguration` unless it is a host, or a host and its port. */
function requireAddress(address: string): void {
  const [matches, port = '7233'] = ADDRESS.exec(address) ?? [];
  if (matches !== undefined && Number(port) > 0 && Number(port) < 65_536) return;
  throw refusal(
    `The Temporal server's address is "${address}": write host:port without http://, such as 127.0.0.1:7233, in TEMPORAL_ADDRESS, the profile or the option address.`,
  );
}

function refusal(message: string, cause?: unknown): RuntimeError {
  return new RuntimeError('InvalidConfiguration', message, { cause });
}
