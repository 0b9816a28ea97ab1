/**
 * Reads a secret value: typed on a terminal without echo, else all of standard input.
 * S1. The terminal is restored however the typing ends.
 * S2. A value is never taken from the command line, where every user of the machine could read it.
 */
import { text } from 'node:stream/consumers';
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
