/**
 * Reads the `.env` of a project: settings of its models, for the process that runs them. Variables of threads are
 * separate (`everthread env`): nothing in this file becomes one.
 * - Variables set in the shell take precedence.
 * - Settings of Everthread, Temporal, PostgreSQL and Node are not taken from the file: commands that do not read it
 *   would disagree with those that do, and tools would see secrets of the store.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import { showPath } from '../connection/find-store.ts';

/** Settings that are not a model's. */
const NON_MODEL_SETTINGS = /^(EVERTHREAD|TEMPORAL|PG|NODE)/;

export interface ReadEnv {
  /** Path of the file, for display. */
  readonly file: string;
  /** Names that were set from the file. */
  readonly taken: readonly string[];
  /** Names that the shell has set to something else. */
  readonly kept: readonly string[];
  /** Names that were not taken from the file. */
  readonly refused: readonly string[];
}

/** Returns undefined if there is no such file. Throws `InvalidConfiguration` if it cannot be read. */
export function readEnvFile(
  projectDir: string,
  environment: NodeJS.ProcessEnv = process.env,
): ReadEnv | undefined {
  const path = join(projectDir, '.env');
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
  const found = Object.entries(parse(path)).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const refused = found.filter(([name]) => NON_MODEL_SETTINGS.test(name));
  const settings = found.filter(([name]) => !NON_MODEL_SETTINGS.test(name));
  const kept = settings.filter(([name, value]) => (environment[name] ?? value) !== value);
  const taken = settings.filter((entry) => !kept.includes(entry));
  for (const [name, value] of taken) environment[name] = value;
  return { file: showPath(path), taken: namesOf(taken), kept: namesOf(kept), refused: namesOf(refused) };
}

/** Describes what was read, by names only: values may be keys. */
export function envFileText({ file, taken, kept, refused }: ReadEnv): string {
  const parts = [
    `Read ${file}: ${taken.join(', ') || 'it sets nothing'}.`,
    ...(kept.length > 0 ? [`Already set and kept: ${kept.join(', ')}.`] : []),
    ...(refused.length > 0 ? [`Ignored there; set them in the shell: ${refused.join(', ')}.`] : []),
  ];
  return parts.join(' ');
}

function parse(path: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new RuntimeError(
      'InvalidConfiguration',
      `${showPath(path)} cannot be read: ${errorMessage(cause)}`,
      {
        cause,
      },
    );
  }
}

function namesOf(entries: readonly (readonly [string, string])[]): string[] {
  return entries.map(([name]) => name);
}
