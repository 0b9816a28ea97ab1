/**
 * The keys of a project without configured keys: `.everthread/encryption.key`, in the format of
 * `EVERTHREAD_ENCRYPTION_KEYS`. `everthread dev` creates it; every other command of the project reads it.
 * - The file is readable by its owner only and written once: of several processes that create it at once, the first
 *   wins.
 */

import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeError } from '../../core/value/error.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import { PRIVATE_FILE } from '../folder/private-files.ts';
import { makeProjectFolder, projectFolder } from '../folder/project-folder.ts';
import { type EncryptionKeys, generateKey, parseKeys } from './encryption.ts';

/** Returns the present keys: those in a file may be rotated while a worker runs. */
export type KeySource = () => EncryptionKeys;

export function keyFilePath(projectDir: string): string {
  return join(projectFolder(projectDir), 'encryption.key');
}

/** Configured keys, else those of the project's file. The source throws `InvalidConfiguration` if there are none. */
export function findKeys(configured: EncryptionKeys | undefined, projectDir: string): KeySource {
  return () => {
    const keys = configured ?? readKeyFile(projectDir);
    if (keys) return keys;
    throw new RuntimeError(
      'InvalidConfiguration',
      'There is no key to encrypt variables with. Set EVERTHREAD_ENCRYPTION_KEYS=k1:KEY, where KEY is what ' +
        '"openssl rand -hex 32" prints, for every worker and client of this store; "everthread dev" creates a key for ' +
        'its project automatically.',
    );
  };
}

/** Creates the file unless it exists. Returns its path if it is new. */
export function ensureKeyFile(projectDir: string): string | undefined {
  makeProjectFolder(projectDir);
  const path = keyFilePath(projectDir);
  const written = `${path}.${process.pid}`;
  const id = `dev-${new Date().toISOString().slice(0, 10)}`;
  try {
    writeFileSync(written, `${generateKey(id)}\n`, { mode: PRIVATE_FILE });
    // Creating a link is atomic and never replaces a file, so no process reads half a key.
    linkSync(written, path);
    return path;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return undefined;
  } finally {
    rmSync(written, { force: true });
  }
}

function readKeyFile(projectDir: string): EncryptionKeys | undefined {
  const path = keyFilePath(projectDir);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new RuntimeError('InvalidConfiguration', `${path} cannot be read: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  return parseKeys(text.trim(), path);
}
