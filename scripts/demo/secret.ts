/** The bulletin's key: made for this run, given to the threads as a secret, and searched for afterwards wherever it must not be. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';

export interface SecretSearch {
  readonly files: number;
  readonly megabytes: string;
  /** Names of files that hold it in clear text. */
  readonly found: readonly string[];
}

export async function giveSecret(client: RuntimeClient, threadId: string): Promise<string> {
  const secret = `ferry-${randomBytes(18).toString('base64url')}`;
  await client.setEnv({ thread: threadId }, 'BULLETIN_KEY', secret);
  return secret;
}

/** Searches all files of server, workers and store: the workflow's history is in the server's database. */
export function searchSecret(folder: string, secret: string): SecretSearch {
  const names = readdirSync(folder).filter((name) => /\.(?:db|db-wal|log)$/.test(name));
  const contents = names.map((name) => ({ name, bytes: readFileSync(join(folder, name)) }));
  const size = contents.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const forms = [secret, Buffer.from(secret).toString('base64').slice(0, -2)];
  return {
    files: names.length,
    megabytes: (size / 1e6).toFixed(1),
    found: contents.filter(({ bytes }) => forms.some((form) => bytes.includes(form))).map(({ name }) => name),
  };
}
