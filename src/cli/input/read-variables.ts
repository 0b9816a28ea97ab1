/**
 * Reads several secret variables: one by one on a terminal, without echo; else from standard input, as NAME=value lines
 * or, if exactly one is named, all of it as its value.
 */
import { text } from 'node:stream/consumers';
import { RuntimeError } from '../../core/value/error.ts';
import { readSecret } from './read-secret.ts';

/**
 * `named`: variables of the command line; `missing`: variables to ask for if none is named. Throws `InvalidVariable`.
 */
export async function readVariables(
  named: readonly string[],
  missing: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  if (process.stdin.isTTY === true) return askForValues(named.length > 0 ? named : missing);
  const [only] = named;
  if (only !== undefined && named.length === 1) return { [only]: await readSecret('') };
  return parseVariables(await text(process.stdin), named);
}

async function askForValues(names: readonly string[]): Promise<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const name of names) values[name] = await readSecret(`Value of ${name} (not shown): `);
  return values;
}

/** Parses NAME=value lines; empty ones are skipped. An error has only the line's number: its text may be secret. */
export function parseVariables(input: string, named: readonly string[] = []): Record<string, string> {
  const values = new Map<string, string>();
  for (const [index, line] of input.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const at = line.indexOf('=');
    const name = line.slice(0, Math.max(at, 0)).trim();
    const problem = at < 1 || name === '' ? 'is not NAME=value' : problemOf(name, values, named);
    if (problem !== undefined) {
      throw new RuntimeError('InvalidVariable', `Line ${index + 1} of standard input ${problem}.`);
    }
    values.set(name, line.slice(at + 1));
  }
  return Object.fromEntries(values);
}

function problemOf(
  name: string,
  known: ReadonlyMap<string, string>,
  named: readonly string[],
): string | undefined {
  if (known.has(name)) return 'names a variable that an earlier line has named';
  if (named.length > 0 && !named.includes(name)) return 'names a variable that the command does not name';
  return undefined;
}
