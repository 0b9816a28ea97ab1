/**
 * Reads a secret value: typed on a terminal without echo, else all of standard input.
 * - The terminal is restored however the typing ends.
 * - A value is never taken from the command line, where every user of the machine could read it.
 */

import { text } from 'node:stream/consumers';
import { RuntimeError } from '../../core/value/error.ts';
import { EXIT } from '../exit.ts';

const ENTER = ['\r', '\n', '\u0004'];
const INTERRUPT = '\u0003';
const ERASE = ['\u007f', '\b'];
const ERASE_ALL = '\u0015';

/** The final line break of a file, `echo` or a typed line is not part of the value. */
export async function readSecret(prompt: string): Promise<string> {
  if (process.stdin.isTTY !== true) return (await text(process.stdin)).replace(/\r?\n$/, '');
  process.stderr.write(prompt);
  const { stdin } = process;
  const typed = Promise.withResolvers<string>();
  const keys = new Typing();
  const onData = (data: string) => {
    const end = keys.take(data);
    if (end === 'entered') typed.resolve(keys.line);
    else if (end === 'interrupted') typed.reject(new Error('interrupted'));
  };
  // An earlier reader may have paused standard input.
  stdin.setEncoding('utf8').on('data', onData).resume();
  stdin.setRawMode(true);
  try {
    return await typed.promise;
  } catch {
    process.exitCode = EXIT.interrupted;
    return process.exit();
  } finally {
    stdin.setRawMode(false);
    stdin.off('data', onData).pause();
    process.stderr.write('\n');
  }
}

/** The editing keys that a terminal in raw mode leaves to its reader: erase, end of input, Ctrl-C. */
export class Typing {
  #characters: string[] = [];

  get line(): string {
    return this.#characters.join('');
  }

  take(data: string): 'entered' | 'interrupted' | undefined {
    // An escape sequence such as an arrow key: it arrives as a whole, and is not part of the value.
    if (data.startsWith('\u001b')) return undefined;
    for (const character of data) {
      if (ENTER.includes(character)) return 'entered';
      if (character === INTERRUPT) return 'interrupted';
      if (ERASE.includes(character)) this.#characters.pop();
      else if (character === ERASE_ALL) this.#characters = [];
      else this.#characters.push(character);
    }
    return undefined;
  }
}

/**
 * Reads several secret variables: one by one on a terminal, without echo; else from standard input, as NAME=value lines
 * or, if exactly one is named, all of it as its value.
 */

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
