/**
 * The `.env` of a project: settings of its models, for the process that runs them. Variables of threads are another matter (`everthread env`):
 * nothing of this file becomes one.
 * E1. What the shell has set wins.
 * E2. Settings of Everthread, Temporal, PostgreSQL and Node are not taken from it: commands that do not read it would disagree with those that do,
 *     and secrets of the store would be seen by tools.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { errorMessage, RuntimeError } from '../../core/value/error.ts';
import { showPath } from '../connection/find-store.ts';

/** E2: settings that are not a model's. */
const OTHERS = /^(EVERTHREAD|TEMPORAL|PG|NODE)/;

export interface ReadEnv {
  /** As people see it. */
  readonly file: string;
  /** Names of what is set now. */
  readonly taken: readonly string[];
  /** E1: names that the shell has set to something else. */
  readonly kept: readonly string[];
  /** E2: names. */
  readonly refused: readonly string[];
}

/** Undefined where there is no such file. Throws `InvalidConfiguration` for one that cannot be read. */
export function readEnvFile(
  projectDir: string,
  environment: NodeJS.ProcessEnv = process.env,
): ReadEnv | undefined {
  const path = join(projectDir, '.env');
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
  const found = Object.entries(parse(path)).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const refused = found.filter(([name]) => OTHERS.test(name));
  const settings = found.filter(([name]) => !OTHERS.test(name));
  const kept = settings.filter(([name, value]) => (environment[name] ?? value) !== value);
  const taken = settings.filter((entry) => !kept.includes(entry));
  for (const [name, value] of taken) environment[name] = value;
  return { file: showPath(path), taken: namesOf(taken), kept: namesOf(kept), refused: namesOf(refused) };
}

/** Names alone: values may be keys. */
export function envFileText({ file, taken, kept, refused }: ReadEnv): string {
  const parts = [
    `Read ${file}: ${taken.join(', ') || 'nothing is set by it'}.`,
    ...(kept.length > 0 ? [`Already set, and kept: ${kept.join(', ')}.`] : []),
    ...(refused.length > 0 ? [`Not taken from it, to be set in the shell: ${refused.join(', ')}.`] : []),
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
