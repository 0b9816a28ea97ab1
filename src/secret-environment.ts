/**
 * Removes secrets from the environment when a process starts: encryption keys, API tokens and the password of the
 * store. After that, neither a tool that reads `process.env`, nor a program that inherits it, nor `/proc/PID/environ`
 * shows them.
 * - The address of the store decides which variables are hidden: `PGPASSWORD` only if our store needs it.
 * - Hidden values are remembered here, in this process only, for later readers of the configuration.
 * - The environment that a process was started with stays in its memory. On Linux it is overwritten there, so the
 *   process need not be started again; other systems show it to processes of the same user for as long as the process
 *   lives.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { isPostgresAddress } from './store/postgres/address.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
export type Secrets = Readonly<Record<string, string>>;

let hiddenSecrets: Secrets = {};

/** The variables that are set. One that is empty or blank counts as absent: compose files and `.env` files make such. */
export function givenVariables(environment: Environment): Readonly<Record<string, string>> {
  const isGiven = (entry: [string, string | undefined]): entry is [string, string] =>
    Boolean(entry[1]?.trim());
  return Object.fromEntries(Object.entries(environment).filter(isGiven));
}

/** The environment for reading the configuration: hidden variables included, unless they were set again. */
export function configuredEnvironment(environment: Environment = process.env): Environment {
  return { ...hiddenSecrets, ...environment };
}

/**
 * Removes the secrets from the environment and remembers them. Safe to call twice.
 * @example
 * ```ts
 * hideSecrets(); // the first line of a program that runs author code
 * ```
 */
export function hideSecrets(): Secrets {
  const found = secretsIn(configuredEnvironment());
  const names = Object.keys(found);
  for (const name of names) delete process.env[name];
  hiddenSecrets = found;
  overwriteStartEnvironment(names);
  return found;
}

/** For a process that was started without the secrets and receives them from its parent. */
export function receiveSecrets(secrets: Secrets): void {
  hiddenSecrets = secrets;
}

/** The variables to hide. */
export function secretsIn(environment: Environment): Secrets {
  const {
    EVERTHREAD_ENCRYPTION_KEYS: keys,
    EVERTHREAD_API_TOKENS: tokens,
    EVERTHREAD_STORE: store = '',
    PGPASSWORD: password,
  } = environment;
  return {
    ...(keys ? { EVERTHREAD_ENCRYPTION_KEYS: keys } : {}),
    ...(tokens ? { EVERTHREAD_API_TOKENS: tokens } : {}),
    ...(mayHavePassword(store) ? { EVERTHREAD_STORE: store } : {}),
    ...(password && canTakePassword(store) ? { PGPASSWORD: password } : {}),
  };
}

/**
 * Returns the address, with the value of `PGPASSWORD` if it needs that: once hidden, the driver cannot find it by
 * itself.
 */
export function storeAddress(store: string, password: string | undefined): string {
  if (!password || !canTakePassword(store)) return store;
  const url = new URL(store);
  url.password = encodeURIComponent(password);
  return url.href;
}

/** True if the address contains a password, or cannot be parsed and may contain one. */
function mayHavePassword(store: string): boolean {
  if (!store.includes('@')) return false;
  return !isPostgresAddress(store) || URL.parse(store)?.password !== '';
}

/** A URL without a host (a socket) has no place for a password: there the driver reads `PGPASSWORD` from the environment. */
function canTakePassword(store: string): boolean {
  const url = isPostgresAddress(store) ? URL.parse(store) : null;
  return url !== null && url.password === '' && url.hostname !== '';
}

/** Field of /proc/PID/stat, counted from the one after the program's name: where the environment begins in memory. */
const ENV_START = 47;

/** Overwrites the environment in memory. */
function overwriteStartEnvironment(names: readonly string[]): void {
  if (process.platform !== 'linux' || names.length === 0) return;
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const start = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[ENV_START]);
    const entries = findEntries(readFileSync('/proc/self/environ'), names);
    const memory = openSync('/proc/self/mem', 'r+');
    try {
      for (const { at, length } of entries) writeSync(memory, Buffer.alloc(length), 0, length, start + at);
    } finally {
      closeSync(memory);
    }
  } catch {
    // The kernel refused: the situation is that of other systems.
  }
}

function findEntries(environment: Buffer, names: readonly string[]): { at: number; length: number }[] {
  const found: { at: number; length: number }[] = [];
  let at = 0;
  while (at < environment.length) {
    const nul = environment.indexOf(0, at);
    const end = nul < 0 ? environment.length : nul;
    const name = environment.toString('latin1', at, end).split('=', 1)[0] ?? '';
    if (names.includes(name)) found.push({ at, length: end - at });
    at = end + 1;
  }
  return found;
}
